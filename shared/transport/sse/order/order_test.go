package order_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// Held messages are bounded in number and in bytes; messages dropped beyond the
// bound are a gap.
func TestHeldMessagesAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ bytes, least, most int }{
		"small messages": {100, 1000, 1000},
		"large messages": {1 << 20, 10, 20},
	} {
		t.Run(name, func(t *testing.T) {
			forwarded := 0
			o := order.New(func(string, []byte) error { forwarded++; return nil }, time.Now)
			o.Subscribed()
			at := watch.Cursor{Seq: 3}
			end := subscription.Message{Type: string(watch.Status), Cursor: at, Prev: at, Subscription: "r", Status: "idle"}
			if err := o.Take(end); err != nil {
				t.Fatal(err)
			}
			held := 0
			for {
				m := subscription.Message{Type: string(watch.Snapshot), Text: make([]byte, c.bytes)}
				m.Prev.Seq = int64(4 + held)
				m.Cursor.Seq = m.Prev.Seq + 1
				err := o.Take(m)
				if errors.Is(err, order.ErrGap) {
					break
				}
				if err != nil || held > c.most {
					t.Fatalf("after %d: %v", held, err)
				}
				held++
			}
			if _, waits := o.Due(time.Second); waits || held < c.least || held > c.most || forwarded != 1 {
				t.Errorf("%d were held and %d forwarded; some are due: %v", held, forwarded, waits)
			}
		})
	}
}

// An item in progress far behind the beginning of a stream is sent once
// complete, at its position: a snapshot of it would drop everything after it.
func TestItemFarBehindTheBeginning(t *testing.T) {
	for name, ends := range map[string]bool{"is completed later": false, "is already complete": true} {
		t.Run(name, func(t *testing.T) {
			var got []string
			o := order.New(func(kind string, _ []byte) error { got = append(got, kind); return nil }, time.Now)
			o.Subscribed()
			begin, item := watch.Cursor{Seq: 150}, watch.Cursor{Seq: 5, Offset: 2}
			open := subscription.Message{
				Type: string(watch.Snapshot), Prev: begin, Cursor: item, Subscription: "r",
				Text: []byte(`{"type":"item.snapshot","item_id":"e5","cursor":"0.5.2","prev":"0.150.0","offset":2,` +
					`"item":{"id":"e5","seq":5,"status":"completed","author":"agent","content":{"parts":[]}}}`),
			}
			if open.Item.Status = "in_progress"; ends {
				open.Item.Status = "completed"
			}
			messages := []subscription.Message{
				open,
				{Type: string(watch.Snapshot), Prev: item, Cursor: watch.Cursor{Seq: 151}, Subscription: "r"},
				{Type: string(watch.Status), Prev: watch.Cursor{Seq: 151}, Cursor: watch.Cursor{Seq: 151}, Subscription: "r", Status: "in_progress"},
			}
			want := []string{"item.completed", "item.snapshot", "thread.status"}
			if !ends {
				messages = append(messages,
					subscription.Message{Type: string(watch.DeltaType), Prev: item, Cursor: watch.Cursor{Seq: 5, Offset: 3}},
					subscription.Message{Type: string(watch.ItemCompleted), Prev: watch.Cursor{Seq: 5, Offset: 3}, Cursor: watch.Cursor{Seq: 5, Offset: 4}})
				want = []string{"item.snapshot", "thread.status", "item.completed"}
			}
			for _, m := range messages {
				if err := o.Take(m); err != nil {
					t.Fatalf("%s: %v", m.Type, err)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A reader that comes back with the end of a streamed item goes on behind it, also
// where its item looks like one that may grow.
func TestResumeAtTheEndOfAnItem(t *testing.T) {
	var ids []string
	var o *order.Order
	begin := func(id string) {
		t.Helper()
		at, err := watch.ParseCursor(id)
		if err != nil {
			t.Fatal(err)
		}
		o = order.New(func(kind string, _ []byte) error {
			at, _ := o.Cursor()
			ids = append(ids, kind+" "+at.String())
			return nil
		}, time.Now)
		o.Resume(at, true)
		o.Subscribed()
	}
	take := func(kind watch.Type, prev, cursor, status, subscription string) {
		t.Helper()
		if err := o.Take(message(t, kind, prev, cursor, status, subscription)); err != nil {
			t.Fatal(err)
		}
	}
	begin("0.3.29")
	take(watch.Status, "0.3.29", "0.4.0", "idle", "r")
	take(watch.ItemCompleted, "0.3.28", "0.3.29", "", "") // late, and known
	begin("0.4.0")
	take(watch.Status, "0.4.0", "0.4.0", "idle", "r")
	take(watch.Snapshot, "0.4.0", "0.5.0", "completed", "")
	if diff := cmp.Diff([]string{"thread.status 0.4.0", "item.snapshot 0.5.0"}, ids); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
}

// A reader is not caught up by a status that could not be forwarded.
func TestStatusThatIsNotForwarded(t *testing.T) {
	o := order.New(func(string, []byte) error { return io.ErrClosedPipe }, time.Now)
	o.Subscribed()
	err := o.Take(message(t, watch.Status, "0.4.0", "0.4.0", "idle", "r"))
	if !errors.Is(err, io.ErrClosedPipe) || o.CaughtUp() {
		t.Errorf("caught up: %v, %v", o.CaughtUp(), err)
	}
}

func message(t *testing.T, kind watch.Type, prev, cursor, status, answers string) subscription.Message {
	t.Helper()
	m := subscription.Message{Type: string(kind), Subscription: answers}
	var err, other error
	m.Prev, err = watch.ParseCursor(prev)
	m.Cursor, other = watch.ParseCursor(cursor)
	if err := errors.Join(err, other); err != nil {
		t.Fatal(err)
	}
	if m.Item.Status = status; kind == watch.Status {
		m.Status = status
	}
	return m
}

// A replay repeats the newest delta of an item that is too large for a snapshot. A
// reader that begins behind it is not sent it again.
func TestBeginInTheMiddleOfALargeItem(t *testing.T) {
	for name, begin := range map[string]func(*order.Order, watch.Cursor){
		"with a cursor": (*order.Order).Begin,
		"with an id":    func(o *order.Order, at watch.Cursor) { o.Resume(at, true) },
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			var o *order.Order
			o = order.New(func(kind string, _ []byte) error {
				at, _ := o.Cursor()
				got = append(got, kind+" "+at.String())
				return nil
			}, time.Now)
			begin(o, watch.Cursor{Seq: 3, Offset: 7})
			o.Subscribed()
			for _, m := range []subscription.Message{
				message(t, watch.DeltaType, "0.3.6", "0.3.7", "", "r"),
				message(t, watch.Status, "0.3.7", "0.3.7", "in_progress", "r"),
				message(t, watch.DeltaType, "0.3.7", "0.3.8", "", ""),
			} {
				if err := o.Take(m); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff([]string{"item.delta 0.3.8"}, slices.DeleteFunc(got, func(s string) bool { return s == "thread.status 0.3.7" })); diff != "" {
				t.Errorf("forwarded (-want +got):\n%s", diff)
			}
		})
	}
}
