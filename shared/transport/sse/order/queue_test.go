package order_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// A queue is forwarded at once, whatever its position, unless the reader has a newer
// one; it does not move the reader, and does not stand for the status that follows a
// message.
func TestQueue(t *testing.T) {
	t.Parallel()
	var got []string
	var o *order.Order
	o = order.New(func(kind string, text []byte) error {
		at, _ := o.Cursor()
		got = append(got, fmt.Sprint(kind, string(text), " ", at))
		return nil
	}, time.Now)
	queue := func(version, seq int64, answers string) subscription.Message {
		at := watch.Cursor{Epoch: 1, Seq: seq}
		return subscription.Message{
			Type: string(watch.QueueType), Cursor: at, Prev: at, QueueVersion: version, Subscription: answers,
			Text: []byte(fmt.Sprint(" ", version)),
		}
	}
	at := func(seq int64) watch.Cursor { return watch.Cursor{Epoch: 1, Seq: seq} }
	take := func(messages ...subscription.Message) {
		t.Helper()
		for _, m := range messages {
			if err := o.Take(m); err != nil {
				t.Fatalf("%+v: %v", m, err)
			}
		}
	}
	wantCaughtUp := func(want bool) {
		t.Helper()
		if o.CaughtUp() != want {
			t.Errorf("the reader is caught up: %t, after %v", !want, got)
		}
	}
	o.Subscribed()
	take(queue(2, 9, "")) // held until the position is known
	take(subscription.Message{Type: string(watch.Snapshot), Prev: at(3), Cursor: at(4), Subscription: "r"}, queue(1, 4, "r"))
	wantCaughtUp(false)
	take(subscription.Message{Type: string(watch.Status), Prev: at(4), Cursor: at(4), Subscription: "r", Status: "in_progress"})
	wantCaughtUp(true)
	take(queue(2, 4, ""), queue(1, 4, ""), queue(4, 20, ""))
	take(subscription.Message{Type: string(watch.Snapshot), Prev: at(4), Cursor: at(5)}, queue(5, 0, ""))
	wantCaughtUp(false)
	take(queue(3, 5, ""))
	o.Subscribed() // another websocket
	take(queue(5, 5, "r"), queue(6, 5, ""))
	want := []string{
		"item.snapshot 1.4.0", "thread.queue 1 1.4.0", "thread.status 1.4.0", "thread.queue 2 1.4.0",
		"thread.queue 4 1.4.0", "item.snapshot 1.5.0", "thread.queue 5 1.5.0", "thread.queue 6 1.5.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
}
