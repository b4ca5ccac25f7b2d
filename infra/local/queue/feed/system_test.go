package feed_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/host"
	"github.com/rethread/rethread/infra/local/localtest"
)

// TestSystem runs a FIFO queue with its dead letter queue, and a function that
// reads it and sends to another queue, with SDK clients on both ends.
func TestSystem(t *testing.T) {
	dir := t.TempDir()
	localtest.Build(t, "./testdata/deliverer", filepath.Join(dir, "functions", "deliverer", "bootstrap"))
	system := localtest.Start(t, filepath.Join(dir, "functions"), "")
	client := sqs.New(sqs.Options{
		BaseEndpoint: aws.String(system.SQSEndpoint()), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	url, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("Deliveries.fifo")})
	if err != nil {
		t.Fatal(err)
	}
	send := func(t *testing.T, group, body string) {
		t.Helper()
		if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: url.QueueUrl, MessageBody: aws.String(body), MessageGroupId: aws.String(group), MessageDeduplicationId: aws.String(body),
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("delivers a message to the function and the function's message to its queue", func(t *testing.T) {
		send(t, "a", "one")
		wantBodies(t, system, "Done", "one 1 true")
	})
	t.Run("retries a failed message before later ones", func(t *testing.T) {
		send(t, "a", "once")
		send(t, "a", "two")
		got := mustArrive(t, system, "Done", 3)
		if got[1] != "once 2 true" || got[2] != "two 1 true" && got[2] != "two 2 true" { // alone, or after the failed one
			t.Errorf("got %v", got)
		}
	})
	t.Run("redelivers a message after its visibility timeout when the process exits", func(t *testing.T) {
		began := time.Now()
		send(t, "a", "die")
		if got := mustArrive(t, system, "Done", 4); got[3] != "die 2 true" || time.Since(began) < 3*time.Second {
			t.Errorf("got %v after %s", got, time.Since(began))
		}
	})
	t.Run("moves a message that keeps failing to the dead letter queue and continues with its group", func(t *testing.T) {
		send(t, "a", "poison")
		wantBodies(t, system, "Dead", "poison")
		send(t, "a", "three")
		if got := mustArrive(t, system, "Done", 5); got[4] != "three 1 true" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("the queues stop with the system", func(t *testing.T) {
		system.Close()
		if _, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("Deliveries.fifo")}); err == nil {
			t.Error("the queues still answer")
		}
	})
}

// wantBodies waits for that many messages and compares them.
func wantBodies(t *testing.T, system *host.System, name string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, mustArrive(t, system, name, len(want))); diff != "" {
		t.Errorf("in %s (-want +got):\n%s", name, diff)
	}
}

func mustArrive(t *testing.T, system *host.System, name string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	q, ok := system.Queues().Queue(name)
	if !ok {
		t.Fatalf("no queue %s", name)
	}
	messages, err := q.Wait(ctx, n)
	if err != nil {
		t.Fatalf("%d of %d messages arrived in %s: %v", len(messages), n, name, err)
	}
	var bodies []string
	for _, m := range messages {
		bodies = append(bodies, m.Body)
	}
	return bodies
}
