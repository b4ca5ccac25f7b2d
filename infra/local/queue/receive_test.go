package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestReceive(t *testing.T) {
	t.Run("hides a received message and shows it again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			mustSend(t, q, "one", "two")
			first := wantTaken(t, q, 1, time.Minute, "one")[0]
			wantTaken(t, q, 10, time.Hour, "two")
			wantTaken(t, q, 10, time.Hour)
			began := time.Now()
			again, err := q.Receive(t.Context(), 10, time.Minute)
			if err != nil || time.Since(began) != time.Minute {
				t.Fatalf("%v after %s", err, time.Since(began))
			}
			if got := again[0]; got.ID != first.ID || got.Receipt == first.Receipt || got.Receives != 2 || got.FirstReceived != began {
				t.Errorf("got %+v after %+v", got, first)
			}
		})
	})
	t.Run("wakes a waiting receiver when a message arrives", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			time.AfterFunc(time.Second, func() { mustSend(t, q, "one") })
			if got, err := q.Receive(t.Context(), 1, 0); err != nil || got[0].Body != "one" {
				t.Errorf("got %v, %v", got, err)
			}
		})
	})
	t.Run("stops waiting when the context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got, err := queue.New(samtemplate.Queue{}).Receive(ctx, 1, 0); !errors.Is(err, context.DeadlineExceeded) || got != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	})
	t.Run("Return makes messages visible without counting the receive", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			mustSend(t, q, "one", "two")
			taken := wantTaken(t, q, 10, time.Minute, "one", "two")
			q.Return(taken[1:]...)
			if got := wantTaken(t, q, 10, time.Minute, "two")[0]; got.Receives != 1 {
				t.Errorf("received %d times", got.Receives)
			}
		})
	})
	t.Run("returns SQS's system attributes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{FIFO: true})
			if _, err := q.Send(queue.Draft{Body: "x", Group: "g", Deduplication: "d"}); err != nil {
				t.Fatal(err)
			}
			sent := strconv.FormatInt(time.Now().UnixMilli(), 10)
			time.Sleep(time.Second)
			received := strconv.FormatInt(time.Now().UnixMilli(), 10)
			q.Take(1, time.Second)
			time.Sleep(time.Second)
			want := map[string]string{
				"SenderId": "local", "SentTimestamp": sent, "ApproximateReceiveCount": "2", "ApproximateFirstReceiveTimestamp": received,
				"MessageGroupId": "g", "MessageDeduplicationId": "d", "SequenceNumber": "00000000000000000001",
			}
			if diff := cmp.Diff(want, wantTaken(t, q, 1, time.Second, "x")[0].System()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
}

func TestReceipts(t *testing.T) {
	t.Run("deleting a message again succeeds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			mustSend(t, q, "one")
			receipt := wantTaken(t, q, 1, time.Minute, "one")[0].Receipt
			for range 2 {
				if err := q.Delete(receipt); err != nil {
					t.Error(err)
				}
			}
			if got := q.Messages(); len(got) != 0 {
				t.Errorf("got %v", got)
			}
			wantCode(t, q.Hide(receipt, 0), queue.CodeInvalidValue)
		})
	})
	t.Run("an outdated receipt deletes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			mustSend(t, q, "one")
			older := wantTaken(t, q, 1, time.Second, "one")[0].Receipt
			time.Sleep(time.Second)
			newer := wantTaken(t, q, 1, time.Minute, "one")[0].Receipt
			wantCode(t, q.Hide(older, 0), queue.CodeNotInFlight)
			if err := q.Delete(older); err != nil || len(q.Messages()) != 1 {
				t.Errorf("got %v, %d messages", err, len(q.Messages()))
			}
			if err := q.Delete(newer); err != nil || len(q.Messages()) != 0 {
				t.Errorf("got %v, %d messages", err, len(q.Messages()))
			}
		})
	})
	t.Run("a FIFO queue refuses an outdated receipt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{FIFO: true})
			if _, err := q.Send(queue.Draft{Body: "one", Group: "g", Deduplication: "d"}); err != nil {
				t.Fatal(err)
			}
			receipt := wantTaken(t, q, 1, time.Second, "one")[0].Receipt
			time.Sleep(time.Second)
			wantCode(t, q.Delete(receipt), queue.CodeInvalidValue)
			wantTaken(t, q, 1, time.Second, "one")
			wantCode(t, q.Delete(receipt), queue.CodeInvalidValue)
		})
	})
	t.Run("Hide extends the visibility timeout or ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			mustSend(t, q, "one")
			receipt := wantTaken(t, q, 1, time.Second, "one")[0].Receipt
			if err := q.Hide(receipt, time.Hour); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			wantTaken(t, q, 1, time.Second)
			if err := q.Hide(receipt, 0); err != nil {
				t.Fatal(err)
			}
			wantTaken(t, q, 1, time.Second, "one")
		})
	})
	t.Run("limits the total visibility timeout to 12 hours", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(samtemplate.Queue{})
			mustSend(t, q, "one")
			receipt := wantTaken(t, q, 1, time.Hour, "one")[0].Receipt
			time.Sleep(10 * time.Minute)
			wantCode(t, q.Hide(receipt, 12*time.Hour), queue.CodeInvalidValue)
			wantCode(t, q.Hide(receipt, 13*time.Hour), queue.CodeInvalidValue)
			wantCode(t, q.Hide(receipt, -time.Second), queue.CodeInvalidValue)
			if err := q.Hide(receipt, 11*time.Hour+50*time.Minute); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("refuses a receipt of another queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q, other := queue.New(samtemplate.Queue{ARN: "arn:q"}), queue.New(samtemplate.Queue{ARN: "arn:other"})
			mustSend(t, other, "one")
			for _, receipt := range []string{"", "?", "abcd", wantTaken(t, other, 1, time.Minute, "one")[0].Receipt} {
				wantCode(t, q.Delete(receipt), queue.CodeInvalidReceipt)
				wantCode(t, q.Hide(receipt, 0), queue.CodeInvalidReceipt)
			}
		})
	})
}

func TestRedrive(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		t.Run("moves a message received too often to the dead letter queue, FIFO: "+strconv.FormatBool(fifo), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := queue.NewSet(&samtemplate.Template{Queues: []samtemplate.Queue{
					{LogicalID: "Q", Name: "Q", ARN: "arn:q", FIFO: fifo, Redrive: &samtemplate.Redrive{Queue: "D", MaxReceives: 2}},
					{LogicalID: "D", Name: "D", ARN: "arn:d", FIFO: fifo},
				}}, slog.New(slog.DiscardHandler))
				q, _ := set.Queue("Q")
				dead, _ := set.Queue("D")
				sent := time.Now()
				for _, body := range []string{"one", "two"} {
					draft := queue.Draft{Body: body, Group: "g"}
					if fifo {
						draft.Deduplication = body
					}
					if _, err := q.Send(draft); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					wantTaken(t, q, 1, time.Second, "one")
					time.Sleep(time.Second)
				}
				wantTaken(t, q, 1, time.Second, "two")
				got := dead.Take(1, time.Second)
				if len(got) != 1 || got[0].Body != "one" || got[0].System()["DeadLetterQueueSourceArn"] != "arn:q" || got[0].Receives != 1 {
					t.Fatalf("got %+v", got)
				}
				if again := got[0].Sent.After(sent); again != fifo {
					t.Errorf("its age starts again: %v", again)
				}
				if left := q.Messages(); len(left) != 1 {
					t.Errorf("remaining messages: %v", left)
				}
			})
		})
	}
}
