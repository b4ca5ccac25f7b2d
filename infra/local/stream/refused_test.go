package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// refusing is a queue that refuses a number of deliveries first.
type refusing struct {
	mu       sync.Mutex
	refusals int
	queued   []string
}

func (q *refusing) Targets(context.Context, notification.Event) ([]delivery.Target, error) {
	return []delivery.Target{{Kind: "webhook", Name: "w"}}, nil
}

func (q *refusing) Put(_ context.Context, d delivery.Delivery) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.refusals > 0 {
		q.refusals--
		return &smithy.OperationError{ServiceID: "SQS", OperationName: "SendMessage", Err: errors.New("503")}
	}
	if !slices.Contains(q.queued, d.Event.ID) { // as a FIFO queue does
		q.queued = append(q.queued, d.Event.ID)
	}
	return nil
}

// A queue that refuses loses nothing before a change is an hour old, by the event
// source mapping of template.yaml. A change that cannot be read delays none.
func TestQueueRefuses(t *testing.T) {
	for _, test := range []struct {
		name     string
		refusals int
		queued   []string
		lost     []string
	}{
		{"twenty times", 20, []string{"a", "b"}, nil},
		{"for longer than an hour", 1 << 20, nil, []string{"RecordAgeExceeded"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, log := &refusing{refusals: test.refusals}, newLog()
				dispatch := batch.Dispatch(readItem, &delivery.Dispatcher{Targets: q, Queue: q}, nil, slog.New(slog.DiscardHandler))
				log.add("shard", "unreadable", "a", "unreadable", "b")
				r := mustRun(t, log, dispatchMapping(t), func(ctx context.Context, c call) (*lambda.Result, error) {
					answer, err := dispatch(ctx, changesOf(c))
					if err != nil {
						return nil, err
					}
					payload, err := json.Marshal(answer)
					return &lambda.Result{RequestID: "request", Payload: payload}, err
				})
				defer r.stop()
				time.Sleep(2 * time.Hour)
				if diff := cmp.Diff(test.queued, q.queued); diff != "" {
					t.Errorf("queued (-want +got):\n%s", diff)
				}
				var lost []string
				for _, b := range mustLostBatches(t, r) {
					if !slices.Contains(lost, b.Condition) {
						lost = append(lost, b.Condition)
					}
				}
				if diff := cmp.Diff(test.lost, lost); diff != "" {
					t.Errorf("abandoned (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// readItem reads a change as an event with the name of its item.
func readItem(_ context.Context, c records.Change) ([]notification.Event, error) {
	item := table.Text(c.New, table.PK)
	if item == "unreadable" {
		return nil, errors.New("it makes no sense")
	}
	return []notification.Event{{ID: item}}, nil
}

func changesOf(c call) (out events.DynamoDBEvent) {
	for i, item := range c.items {
		out.Records = append(out.Records, events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{
			SequenceNumber: c.sequences[i],
			NewImage:       map[string]events.DynamoDBAttributeValue{table.PK: events.NewStringAttribute(item)},
		}})
	}
	return out
}

// dispatchMapping is the mapping of the function that queues deliveries, without the
// filter, for the fakes.
func dispatchMapping(t *testing.T) samtemplate.Stream {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range template.Functions {
		if f.LogicalID == "AutomationsFunction" {
			s, fake := f.Streams[0], mapping()
			s.Table, s.FailureDestination, s.StartingPosition, s.Filters = fake.Table, fake.FailureDestination, fake.StartingPosition, nil
			return s
		}
	}
	t.Fatal("the template has no function that queues deliveries")
	return samtemplate.Stream{}
}
