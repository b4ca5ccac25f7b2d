package samtemplate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestQueues(t *testing.T) {
	template, err := samtemplate.Load("testdata/queues.yaml", samtemplate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const arn, url = "arn:aws:sqs:us-east-1:000000000000:", "https://sqs.us-east-1.amazonaws.com/000000000000/"
	t.Run("reads FIFO and standard queues", func(t *testing.T) {
		want := []samtemplate.Queue{
			{
				LogicalID: "Deliveries", Name: "Deliveries.fifo", ARN: arn + "Deliveries.fifo", URL: url + "Deliveries.fifo",
				Retention: 4 * 24 * time.Hour, VisibilityTimeout: time.Minute,
				FIFO: true, GroupDeduplication: true, Redrive: &samtemplate.Redrive{Queue: "Dead", MaxReceives: 50},
			},
			{
				LogicalID: "Dead", Name: "Dead.fifo", ARN: arn + "Dead.fifo", URL: url + "Dead.fifo",
				Retention: 4 * 24 * time.Hour, VisibilityTimeout: 30 * time.Second,
				FIFO: true,
			},
			{
				LogicalID: "Jobs", Name: "Jobs", ARN: arn + "Jobs", URL: url + "Jobs",
				Retention: 4 * 24 * time.Hour, VisibilityTimeout: 30 * time.Second,
			},
		}
		if diff := cmp.Diff(want, template.Queues); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("reads event source mappings", func(t *testing.T) {
		deliver, _ := template.Function("DeliverFunction")
		want := []samtemplate.QueueMapping{
			{Name: "Deliveries", Queue: "Deliveries", BatchSize: 5, MaxConcurrency: 4, PartialBatchResponses: true, Enabled: true},
			{Name: "Jobs", Queue: "Jobs", BatchSize: 100, BatchWindow: 2 * time.Second},
		}
		if diff := cmp.Diff(want, deliver.Queues); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		environment := map[string]string{"DELIVERIES_URL": url + "Deliveries.fifo", "NAME": "Deliveries.fifo"}
		if diff := cmp.Diff(environment, deliver.Environment); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	})
}

func TestQueuesRefuse(t *testing.T) {
	const (
		queue    = "\n  Q: {Type: AWS::SQS::Queue, Properties: {"
		fifo     = "\n  D: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}"
		redrives = "RedrivePolicy: {deadLetterTargetArn: !GetAtt "
	)
	resources := func(rest string) string { return head + "Resources:" + rest }
	mapping := func(queueProperties, timeout, rest string) string {
		return resources(queue+queueProperties+"}}"+fifo) + `
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: x
      Timeout: ` + timeout + `
      Events: {E: {Type: SQS, Properties: {Queue: ` + rest + "}}}"
	}
	for _, test := range []struct{ name, text, reason string }{
		{"deduplication without FIFO", resources(queue + "DeduplicationScope: queue}}"), "only a FIFO queue"},
		{"an unknown scope", resources(queue + "FifoQueue: true, DeduplicationScope: all}}"), "queue or messageGroup"},
		{"too long a retention", resources(queue + "MessageRetentionPeriod: 1209601}}"), "60 to 1209600"},
		{"too long a visibility timeout", resources(queue + "VisibilityTimeout: 43201}}"), "0 to 43200"},
		{"an unknown dead letter queue", resources(queue + redrives + "T.Arn, maxReceiveCount: 1}}}"), "T is not a resource"},
		{"a dead letter queue of another kind", resources(queue + redrives + "D.Arn, maxReceiveCount: 1}}}" + fifo), "dead letter queue of a FIFO queue"},
		{"a maxReceiveCount of 0", resources(queue + redrives + "Q.Arn, maxReceiveCount: 0}}}"), "1 to 1000"},
		{"a queue by its URL", mapping("", "5", "!Ref Q"), "is not an AWS::SQS::Queue"},
		{"an empty queue ARN", mapping("", "5", "''"), "is not an AWS::SQS::Queue"},
		{"an unknown property", mapping("", "5", "!GetAtt Q.Arn, FilterCriteria: {}"), "property FilterCriteria"},
		{"an unknown response type", mapping("", "5", "!GetAtt Q.Arn, FunctionResponseTypes: [Other]"), "response type Other"},
		{"too high a concurrency", mapping("", "5", "!GetAtt Q.Arn, ScalingConfig: {MaximumConcurrency: 1001}"), "2 to 1000"},
		{"too low a concurrency", mapping("", "5", "!GetAtt Q.Arn, ScalingConfig: {MaximumConcurrency: 1}"), "2 to 1000"},
		{"too long a window", mapping("", "5", "!GetAtt Q.Arn, MaximumBatchingWindowInSeconds: 301"), "0 to 300"},
		{"too large a batch", mapping("", "5", "!GetAtt Q.Arn, BatchSize: 10001, MaximumBatchingWindowInSeconds: 1"), "1 to 10000"},
		{"an empty batch", mapping("", "5", "!GetAtt Q.Arn, BatchSize: 0"), "1 to 10000"},
		{"a large batch without a window", mapping("", "5", "!GetAtt Q.Arn, BatchSize: 11"), "only with a batching window"},
		{"a large batch of a FIFO queue", mapping("", "5", "!GetAtt D.Arn, BatchSize: 11"), "only with a batching window"},
		{"a window of a FIFO queue", mapping("", "5", "!GetAtt D.Arn, MaximumBatchingWindowInSeconds: 1"), "must not have a batching window"},
		{"a function timeout above the visibility timeout", mapping("VisibilityTimeout: 4", "5", "!GetAtt Q.Arn"), "4s, is less than"},
		{
			"a FIFO queue as a destination", resources(fifo) + `
  F: {Type: AWS::Serverless::Function, Properties: {CodeUri: x, EventInvokeConfig: {DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt D.Arn}}}}}`,
			"must not be a FIFO queue",
		},
		{
			"a dead letter queue whose condition is not met",
			resources(queue+redrives+"P.Arn, maxReceiveCount: 1}}}\n  P: {Condition: No, Type: AWS::SQS::Queue}") + "\nConditions: {No: !Equals [a, b]}",
			"dead letter queue does not exist",
		},
		{
			"a queue whose condition is not met",
			strings.Replace(mapping("", "5", "!GetAtt Q.Arn"), "  Q: {", "  Q: {Condition: No, ", 1) + "\nConditions: {No: !Equals [a, b]}",
			"does not exist: its condition is not met",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := samtemplate.Parse([]byte(test.text), samtemplate.Options{})
			var at *samtemplate.Error
			if !errors.As(err, &at) || !strings.Contains(at.Reason, test.reason) {
				t.Errorf("got %v, want %s", err, test.reason)
			}
		})
	}
}
