package order_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/wsapi/sse/order"
	"github.com/rethread/rethread/shared/wsapi/subscription"
)

// What waits for its turn is bounded in number and in bytes; what was given up
// is then missing, and is asked for.
func TestWhatWaitsIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ bytes, least, most int }{
		"small messages": {100, 1000, 1000},
		"large messages": {1 << 20, 10, 20},
	} {
		t.Run(name, func(t *testing.T) {
			passed := 0
			o := order.New(func(string, []byte) error { passed++; return nil }, time.Now)
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
			if _, waits := o.Due(time.Second); waits || held < c.least || held > c.most || passed != 1 {
				t.Errorf("%d were held and %d passed on; some wait: %v", held, passed, waits)
			}
		})
	}
}
