package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/samtemplate"
)

func TestQueue(t *testing.T) {
	t.Run("messages stay in the order they came", func(t *testing.T) {
		q := queue.New(0)
		q.Send([]byte("one"))
		q.Send([]byte("two"))
		for range 2 {
			if got := q.Messages(); len(got) != 2 || got[0].Body != "one" || got[1].Body != "two" || got[0].ID == got[1].ID {
				t.Errorf("got %v", got)
			}
		}
	})
	t.Run("they are kept as long as the queue says", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(time.Hour)
			q.Send([]byte("old"))
			time.Sleep(40 * time.Minute)
			q.Send([]byte("new"))
			time.Sleep(40 * time.Minute)
			if got := q.Messages(); len(got) != 1 || got[0].Body != "new" {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("one can wait for them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(0)
			go func() {
				q.Send([]byte("one"))
				time.Sleep(time.Second)
				q.Send([]byte("two"))
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
}

func TestSet(t *testing.T) {
	set := queue.NewSet(&samtemplate.Template{
		Queues: []samtemplate.Queue{{LogicalID: "Q", Name: "queue", ARN: "arn:q"}},
		Topics: []samtemplate.Topic{{LogicalID: "T", Name: "topic", ARN: "arn:t"}},
	}, slog.New(slog.DiscardHandler))
	for arn, name := range map[string]string{"arn:q": "Q", "arn:t": "topic"} {
		if err := set.Deliver(t.Context(), arn, []byte("body")); err != nil {
			t.Fatal(err)
		}
		q, ok := set.Queue(name)
		if !ok || len(q.Messages()) != 1 {
			t.Errorf("%s did not reach %s", arn, name)
		}
	}
	if err := set.Deliver(t.Context(), "arn:other", nil); !errors.Is(err, queue.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}
