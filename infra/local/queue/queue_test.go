package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestQueue(t *testing.T) {
	t.Run("keeps messages in order of arrival", func(t *testing.T) {
		q := queue.New(samtemplate.Queue{})
		mustSend(t, q, "one", "two")
		for range 2 {
			if got := q.Messages(); len(got) != 2 || got[0].Body != "one" || got[1].Body != "two" || got[0].ID == got[1].ID {
				t.Errorf("got %v", got)
			}
		}
	})
	t.Run("removes messages after the retention period", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{Retention: time.Hour})
			mustSend(t, q, "old")
			wantTaken(t, q, 1, 12*time.Hour, "old")
			time.Sleep(40 * time.Minute)
			mustSend(t, q, "new")
			time.Sleep(40 * time.Minute)
			if got := q.Messages(); len(got) != 1 || got[0].Body != "new" {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("Wait returns once the messages have arrived", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			go func() {
				mustSend(t, q, "one")
				time.Sleep(time.Second)
				mustSend(t, q, "two")
			}()
			if got, err := q.Wait(t.Context(), 2); err != nil || len(got) != 2 {
				t.Errorf("got %v, %v", got, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got, err := q.Wait(ctx, 3); !errors.Is(err, context.DeadlineExceeded) || len(got) != 2 {
				t.Errorf("got %v, %v", got, err)
			}
		})
	})
	t.Run("a delayed message becomes visible after its delay", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			if _, err := q.Send(queue.Draft{Body: "late", Delay: 10 * time.Second}); err != nil {
				t.Fatal(err)
			}
			mustSend(t, q, "soon")
			wantTaken(t, q, 10, time.Minute, "soon")
			began := time.Now()
			got, err := q.Receive(t.Context(), 10, time.Minute)
			if err != nil || len(got) != 1 || time.Since(began) != 10*time.Second {
				t.Errorf("got %v, %v after %s", got, err, time.Since(began))
			}
		})
	})
}

func TestSendRefuses(t *testing.T) {
	standard := samtemplate.Queue{}
	fifo := samtemplate.Queue{FIFO: true}
	long, negative := 16*time.Minute, -time.Second
	attribute := func(a queue.Attribute) queue.Draft {
		return queue.Draft{Body: "x", Attributes: map[string]queue.Attribute{"a": a}}
	}
	eleven := map[string]queue.Attribute{}
	for i := range 11 {
		eleven[string(rune('a'+i))] = queue.Attribute{DataType: "String", StringValue: "x"}
	}
	for _, test := range []struct {
		name  string
		queue samtemplate.Queue
		draft queue.Draft
		code  string
	}{
		{"nothing", standard, queue.Draft{}, queue.CodeMissingParameter},
		{"a body over 1 MiB", standard, queue.Draft{Body: strings.Repeat("x", 1<<20+1)}, queue.CodeInvalidValue},
		{
			"a body and attributes over 1 MiB", standard,
			queue.Draft{Body: strings.Repeat("x", 1<<20-4), Attributes: map[string]queue.Attribute{"a": {DataType: "String", StringValue: "x"}}},
			queue.CodeInvalidValue,
		},
		{"a control character", standard, queue.Draft{Body: "a\x00"}, queue.CodeInvalidContents},
		{"too long a delay", standard, queue.Draft{Body: "x", Delay: long}, queue.CodeInvalidValue},
		{"a negative delay", standard, queue.Draft{Body: "x", Delay: negative}, queue.CodeInvalidValue},
		{"too many attributes", standard, queue.Draft{Body: "x", Attributes: eleven}, queue.CodeInvalidValue},
		{"an attribute without a type", standard, attribute(queue.Attribute{StringValue: "x"}), queue.CodeInvalidValue},
		{"an attribute without a value", standard, attribute(queue.Attribute{DataType: "String"}), queue.CodeInvalidValue},
		{"an attribute with a value of the other type", standard, attribute(queue.Attribute{DataType: "Binary", StringValue: "x"}), queue.CodeInvalidValue},
		{"a deduplication id in a standard queue", standard, queue.Draft{Body: "x", Deduplication: "d"}, queue.CodeInvalidValue},
		{"no group", fifo, queue.Draft{Body: "x", Deduplication: "d"}, queue.CodeMissingParameter},
		{"no deduplication id", fifo, queue.Draft{Body: "x", Group: "g"}, queue.CodeInvalidValue},
		{"a delay in a FIFO queue", fifo, queue.Draft{Body: "x", Group: "g", Deduplication: "d", Delay: long}, queue.CodeInvalidValue},
		{"a group with a space", fifo, queue.Draft{Body: "x", Group: "g g", Deduplication: "d"}, queue.CodeInvalidValue},
		{"too long a group", fifo, queue.Draft{Body: "x", Group: strings.Repeat("g", 129), Deduplication: "d"}, queue.CodeInvalidValue},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := queue.New(test.queue)
			_, err := q.Send(test.draft)
			wantCode(t, err, test.code)
			if got := q.Messages(); len(got) != 0 {
				t.Errorf("the queue contains %v", got)
			}
		})
	}
}

func TestSet(t *testing.T) {
	set := queue.NewSet(&samtemplate.Template{
		Queues: []samtemplate.Queue{{LogicalID: "Q", Name: "queue", ARN: "arn:q"}},
	}, slog.New(slog.DiscardHandler))
	if err := set.Deliver(t.Context(), "arn:q", []byte("body")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Q", "queue"} {
		if q, ok := set.Queue(name); !ok || len(q.Messages()) != 1 {
			t.Errorf("no message arrived in %s", name)
		}
	}
	if err := set.Deliver(t.Context(), "arn:other", nil); !errors.Is(err, queue.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	wantCode(t, set.Deliver(t.Context(), "arn:q", make([]byte, 1<<20+1)), queue.CodeInvalidValue)
	if got := set.Queues(); len(got) != 1 || got[0].Settings().LogicalID != "Q" {
		t.Errorf("got %d queues", len(got))
	}
}

func mustSend(t *testing.T, q *queue.Queue, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if _, err := q.Send(queue.Draft{Body: body}); err != nil {
			t.Fatal(err)
		}
	}
}

// wantTaken takes up to n messages and compares their bodies.
func wantTaken(t *testing.T, q *queue.Queue, n int, hide time.Duration, want ...string) []queue.Received {
	t.Helper()
	taken := q.Take(n, hide)
	var got []string
	for _, m := range taken {
		got = append(got, m.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("taken (-want +got):\n%s", diff)
	}
	return taken
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *queue.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}
