package samtemplate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestStreamsAndDestinations(t *testing.T) {
	template, err := samtemplate.Load("testdata/streams.yaml", samtemplate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const arn, url = "arn:aws:sqs:us-east-1:000000000000:", "https://sqs.us-east-1.amazonaws.com/000000000000/"
	t.Run("reads queues", func(t *testing.T) {
		want := []samtemplate.Queue{
			{
				LogicalID: "Failures", Name: "Failures", ARN: arn + "Failures", URL: url + "Failures", Retention: 14 * 24 * time.Hour,
				VisibilityTimeout: time.Minute, Redrive: &samtemplate.Redrive{Queue: "Graveyard", MaxReceives: 5},
			},
			{
				LogicalID: "Graveyard", Name: "Graveyard", ARN: arn + "Graveyard", URL: url + "Graveyard", Retention: 4 * 24 * time.Hour,
				VisibilityTimeout: 30 * time.Second,
			},
		}
		if diff := cmp.Diff(want, template.Queues); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("reads an event source mapping", func(t *testing.T) {
		fanout, _ := template.Function("FanoutFunction")
		want := []samtemplate.Stream{{
			Name: "Changes", Table: "Table", StartingPosition: "LATEST", BatchSize: 50, BatchWindow: time.Second,
			ParallelizationFactor: 10, BisectOnError: true, MaxRetries: 3, MaxRecordAge: time.Hour, PartialBatchResponses: true,
			Filters:            []string{`{"dynamodb": {"Keys": {"PK": {"S": [{"prefix": "S#"}]}}}}`},
			FailureDestination: arn + "Failures", Enabled: true,
		}}
		if diff := cmp.Diff(want, fanout.Streams); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got, want := fanout.Environment["FAILURES_URL"], url+"Failures"; got != want {
			t.Errorf("Ref of a queue is %s, want %s", got, want)
		}
	})
	t.Run("reads the settings of asynchronous invocations", func(t *testing.T) {
		runner, _ := template.Function("RunnerFunction")
		want := &samtemplate.AsyncInvoke{
			MaxRetries: 0, MaxAge: 10 * time.Minute, OnFailure: arn + "Failures",
		}
		if diff := cmp.Diff(want, runner.Async); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestStreamsAndDestinationsRefuse(t *testing.T) {
	const before = head + `Resources:
  Q: {Type: AWS::SQS::Queue}
  T: {Type: AWS::DynamoDB::Table, Properties: {BillingMode: PAY_PER_REQUEST}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: x
`
	mapping := func(rest string) string {
		return before + "      Events: {E: {Type: DynamoDB, Properties: {Stream: !GetAtt T.StreamArn, " + rest + "}}}"
	}
	for _, test := range []struct{ name, text, reason string }{
		{"an unknown property of a queue", strings.Replace(before, "AWS::SQS::Queue}", "AWS::SQS::Queue, Properties: {Color: red}}", 1), "property Color"},
		{"a mapping without a starting position", mapping("BatchSize: 1"), "StartingPosition"},
		{"an unknown response type", mapping("StartingPosition: LATEST, FunctionResponseTypes: [Other]"), "response type Other"},
		{
			"a function as a destination",
			mapping("StartingPosition: LATEST, DestinationConfig: {OnFailure: {Type: Lambda, Destination: !GetAtt F.Arn}}"), "only SQS",
		},
		{
			"a queue by its URL",
			mapping("StartingPosition: LATEST, DestinationConfig: {OnFailure: {Type: SQS, Destination: !Ref Q}}"), "must be an ARN",
		},
		{
			"a function's ARN as a queue",
			before + "      EventInvokeConfig: {DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt F.Arn}}}", "is not an AWS::SQS::Queue",
		},
		{"too many retries", before + "      EventInvokeConfig: {MaximumRetryAttempts: 3}", "0 to 2"},
		{"too short an age", before + "      EventInvokeConfig: {MaximumEventAgeInSeconds: 59}", "60 to 21600"},
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
