package batch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/store/records"
)

// tray is a queue, and a target of every event.
type tray struct {
	fails string        // the log that cannot be queued
	takes time.Duration // a request

	mu  sync.Mutex
	put map[string][]string // by log
}

// got returns the queued deliveries, by log.
func (q *tray) got() (all []string) {
	for _, log := range slices.Sorted(maps.Keys(q.put)) {
		all = append(all, q.put[log]...)
	}
	return all
}

func (q *tray) Targets(ctx context.Context, e notification.Event) ([]delivery.Target, error) {
	if err := retry.Sleep(ctx, q.takes); err != nil {
		return nil, err
	}
	found := []delivery.Target{{Kind: "test", Name: e.Log}}
	switch e.Log {
	case "unread": // a target that cannot be read
		return found, errors.New("that makes no sense")
	case "away":
		return nil, &smithy.OperationError{OperationName: "GetItem", Err: errors.New("503")}
	case "panics":
		panic("who is that")
	}
	return found, nil
}

func (q *tray) Put(ctx context.Context, d delivery.Delivery) error {
	if d.Target.Name == q.fails {
		return errors.New("no queue")
	}
	if err := retry.Sleep(ctx, q.takes); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.put == nil {
		q.put = map[string][]string{}
	}
	q.put[d.Target.Name] = append(q.put[d.Target.Name], d.Event.ID)
	return nil
}

// readEvents reads the records of batch: two events each.
func readEvents(_ context.Context, c records.Change) ([]notification.Event, error) {
	var log, seq string
	if v, ok := c.New["log"].(*types.AttributeValueMemberS); ok {
		log = v.Value
	}
	if v, ok := c.New["seq"].(*types.AttributeValueMemberN); ok {
		seq = v.Value
	}
	switch log {
	case "odd":
		return nil, errors.New("no sense in it")
	case "panic":
		panic("oops")
	case "down":
		return nil, fmt.Errorf("read a chunk: %w", &smithy.OperationError{OperationName: "GetItem", Err: errors.New("503")})
	case "quiet":
		return nil, nil
	case "items":
		return []notification.Event{{ID: log + seq + ".1", Log: log, Type: notification.ItemCompleted}}, nil
	}
	return []notification.Event{{ID: log + seq + ".1", Log: log}, {ID: log + seq + ".2", Log: log}}, nil
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		logs, got, failed []string
		logged            string
	}{
		"queues events in order":                     {[]string{"a", "b", "a"}, []string{"a1.1", "a1.2", "a3.1", "a3.2", "b2.1", "b2.2"}, nil, ""},
		"ignores changes without events":             {[]string{"quiet"}, nil, nil, ""},
		"skips and logs an unreadable record":        {[]string{"odd", "a"}, []string{"a2.1", "a2.2"}, nil, "no sense in it"},
		"skips a record that makes the reader panic": {[]string{"panic", "a"}, []string{"a2.1", "a2.2"}, nil, "oops"},
		"stops at a record that cannot be read now":  {[]string{"a", "down", "b"}, []string{"a1.1", "a1.2"}, []string{"101"}, "503"},
		"stops the receiver of a record that cannot be queued": {
			[]string{"a", "lost", "b", "lost"}, []string{"a1.1", "a1.2", "b3.1", "b3.2"}, []string{"101", "103"}, "no queue",
		},
		"stops at a record whose targets cannot be read now": {
			[]string{"a", "away", "b"}, []string{"a1.1", "a1.2"}, []string{"101"}, "503",
		},
		"queues a record for its readable targets": {
			[]string{"unread", "a"}, []string{"a2.1", "a2.2", "unread1.1", "unread1.2"}, nil, "that makes no sense",
		},
		"continues after a panic while finding targets": {
			[]string{"panics", "a"}, []string{"a2.1", "a2.2"}, nil, "who is that",
		},
		"accepts an empty batch":               {nil, nil, nil, ""},
		"queues records after unreadable ones": {[]string{"odd", "panic", "a"}, []string{"a3.1", "a3.2"}, nil, "oops"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text bytes.Buffer
			q := &tray{fails: "lost"}
			to := &delivery.Dispatcher{Targets: q, Queue: q}
			answer, err := batch.Dispatch(readEvents, to, nil, slog.New(slog.NewTextHandler(&text, nil)))(t.Context(), batchOf(test.logs...))
			if err != nil {
				t.Fatal(err)
			}
			wantFailed(t, answer, test.failed...)
			if diff := gocmp.Diff(test.got, q.got()); diff != "" {
				t.Errorf("queued (-want +got):\n%s", diff)
			}
			if !strings.Contains(text.String(), test.logged) {
				t.Errorf("the log: %s", text.String())
			}
		})
	}
}

// Many changes are queued about as fast as a few: the last one does not wait for a
// sequence of requests.
func TestAutomations_of_many(t *testing.T) {
	const many, request, most = 100, 10 * time.Millisecond, 300 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		q := &tray{takes: request}
		var logs []string
		for i := range many {
			logs = append(logs, fmt.Sprint("l", i))
		}
		began := time.Now()
		to := &delivery.Dispatcher{Targets: q, Queue: q}
		answer, err := batch.Dispatch(readEvents, to, nil, slog.New(slog.DiscardHandler))(t.Context(), batchOf(logs...))
		if err != nil || len(answer.BatchItemFailures) > 0 || len(q.got()) != 2*many {
			t.Fatalf("%v, %v, %d queued", err, answer, len(q.got()))
		}
		took := time.Since(began)
		t.Logf("%d changes with two events each, at %s a request: %s", many, request, took)
		if took > most {
			t.Errorf("it took %s, want %s at most", took, most)
		}
	})
}

// board is a bus that rejects the events of one log.
type board struct {
	fails string
	got   []string
}

func (b *board) Publish(_ context.Context, events []notification.Event) []error {
	errs := make([]error, len(events))
	for i, e := range events {
		switch e.Log {
		case b.fails:
			errs[i] = fmt.Errorf("%w: no bus", fault.Of(fault.Busy))
			continue
		case "unfit":
			errs[i] = errors.New("MalformedDetail")
			continue
		}
		b.got = append(b.got, e.ID)
	}
	return errs
}

func TestAutomations_with_a_bus(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		logs, queued, got, failed []string
	}{
		"publishes queued events":              {[]string{"a", "b"}, []string{"a1.1", "a1.2", "b2.1", "b2.2"}, []string{"a1.1", "a1.2", "b2.1", "b2.2"}, nil},
		"does not publish events for A2A only": {[]string{"items", "a"}, []string{"a2.1", "a2.2", "items1.1"}, []string{"a2.1", "a2.2"}, nil},
		"publishes nothing from a record that cannot be queued on": {
			[]string{"a", "lost", "b"}, []string{"a1.1", "a1.2", "b3.1", "b3.2"}, []string{"a1.1", "a1.2"}, []string{"101"},
		},
		"repeats a record that the bus rejects": {
			[]string{"a", "deaf", "b"},
			[]string{"a1.1", "a1.2", "b3.1", "b3.2", "deaf2.1", "deaf2.2"},
			[]string{"a1.1", "a1.2", "b3.1", "b3.2"},
			[]string{"101"},
		},
		"skips what the bus will always refuse": {
			[]string{"a", "unfit", "b"},
			[]string{"a1.1", "a1.2", "b3.1", "b3.2", "unfit2.1", "unfit2.2"},
			[]string{"a1.1", "a1.2", "b3.1", "b3.2"},
			nil,
		},
		"publishes nothing without events": {[]string{"quiet", "odd"}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, b := &tray{fails: "lost"}, &board{fails: "deaf"}
			to := &delivery.Dispatcher{Targets: q, Queue: q}
			answer, err := batch.Dispatch(readEvents, to, b, slog.New(slog.DiscardHandler))(t.Context(), batchOf(test.logs...))
			if err != nil {
				t.Fatal(err)
			}
			wantFailed(t, answer, test.failed...)
			if diff := gocmp.Diff(test.queued, q.got()) + gocmp.Diff(test.got, b.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
