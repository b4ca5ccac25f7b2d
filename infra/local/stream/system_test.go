package stream_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/local/host"
	"github.com/rethread/rethread/infra/local/localtest"
	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/table"
)

// TestSystem runs a table with its stream, a function that reads the stream, one
// that is invoked asynchronously, and their destinations.
func TestSystem(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"watcher", "worker"} {
		localtest.Build(t, "./testdata/"+name, filepath.Join(dir, "functions", name, "bootstrap"))
	}
	system := localtest.Start(t, filepath.Join(dir, "functions"), filepath.Join(dir, "data"))
	t.Run("delivers a change to the function, which starts an asynchronous invocation", func(t *testing.T) {
		mustPut(t, system, "other")
		mustPut(t, system, "job/one")
		if got := mustArrive(t, system, "Done", 1)[0]; got.RequestPayload.Job != "job/one" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("sends a record of a failed asynchronous invocation", func(t *testing.T) {
		mustPut(t, system, "job/fail")
		if got := mustArrive(t, system, "Failures", 1)[0]; got.RequestPayload.Job != "job/fail" || got.condition() != "RetriesExhausted" {
			t.Errorf("got %+v", got)
		}
		mustPut(t, system, "job/die")
		if got := mustArrive(t, system, "Failures", 2)[1]; got.RequestPayload.Job != "job/die" || got.condition() != "RetriesExhausted" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("abandons a record that the function cannot process and continues", func(t *testing.T) {
		mustPut(t, system, "job/poison")
		mustPut(t, system, "job/two")
		if got := mustArrive(t, system, "Failures", 3)[2]; got.condition() != "RetryAttemptsExhausted" || got.Batch.Size != 1 {
			t.Errorf("got %+v", got)
		}
		if got := mustArrive(t, system, "Done", 2)[1]; got.RequestPayload.Job != "job/two" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("continues at the saved position after a restart", func(t *testing.T) {
		mustPut(t, system, "job/poison/late")
		system.Close() // most likely between two attempts
		again := localtest.Start(t, filepath.Join(dir, "functions"), filepath.Join(dir, "data"))
		if before := mustQueue(t, system, "Failures").Messages(); len(before) == 3 {
			mustArrive(t, again, "Failures", 1)
		}
		mustPut(t, again, "job/three")
		if got := mustArrive(t, again, "Done", 1)[0]; got.RequestPayload.Job != "job/three" {
			t.Errorf("got %+v", got)
		}
	})
}

// arrived is a record in a destination, of a mapping or an asynchronous
// invocation.
type arrived struct {
	RequestContext struct{ Condition string }
	RequestPayload struct{ Job string }
	Batch          struct {
		Size int `json:"batchSize"`
	} `json:"DDBStreamBatchInfo"`
}

func (a arrived) condition() string { return a.RequestContext.Condition }

func mustArrive(t *testing.T, system *host.System, name string, n int) []arrived {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	messages, err := mustQueue(t, system, name).Wait(ctx, n)
	if err != nil {
		t.Fatalf("%d of %d messages arrived: %v", len(messages), n, err)
	}
	all := make([]arrived, len(messages))
	for i, message := range messages {
		if err := json.Unmarshal([]byte(message.Body), &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func mustQueue(t *testing.T, system *host.System, name string) *queue.Queue {
	t.Helper()
	q, ok := system.Queues().Queue(name)
	if !ok {
		t.Fatalf("no queue %s", name)
	}
	return q
}

func mustPut(t *testing.T, system *host.System, key string) {
	t.Helper()
	_, err := table.NewClient(system.DynamoDBEndpoint(), table.AccessKey).PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("Table"), Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
}
