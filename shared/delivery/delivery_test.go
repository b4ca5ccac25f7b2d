package delivery_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/delivery"
)

// board is who wants to hear, and the queue.
type board struct {
	targets []delivery.Target
	fails   string // target that the queue does not take
	lost    error

	mu  sync.Mutex
	put []string
}

func (b *board) Targets(context.Context, delivery.Event) ([]delivery.Target, error) {
	return b.targets, b.lost
}

func (b *board) Put(_ context.Context, d delivery.Delivery) error {
	if d.Target.Name == b.fails {
		return errors.New("no queue")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put = append(b.put, d.Target.Name+" "+d.Event.ID)
	return nil
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	two := []delivery.Target{{Kind: kind, Name: "a"}, {Kind: kind, Name: "b"}}
	for name, test := range map[string]struct {
		board *board
		put   []string
		fails bool
	}{
		"an event is queued for each target":      {board: &board{targets: two}, put: []string{"a e", "b e"}},
		"and for nobody where nobody wants it":    {board: &board{}},
		"targets that cannot be read are a fault": {board: &board{lost: errors.New("no table")}, fails: true},
		"a queue that fails is one too":           {board: &board{targets: two[:1], fails: "a"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := test.board
			err := (&delivery.Dispatcher{Targets: b, Queue: b}).Dispatch(t.Context(), delivery.Event{ID: "e"})
			slices.Sort(b.put)
			if diff := cmp.Diff(test.put, b.put); diff != "" || (err != nil) != test.fails {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	d := delivery.Delivery{Event: delivery.Event{ID: "e", Time: 1}, Target: delivery.Target{Kind: kind, Name: "a"}}
	again, other := d, d
	again.Event.Time, other.Event.ID = 2, "f"
	if d.ID() != again.ID() || d.ID() == other.ID() || d.Target.Group() != other.Target.Group() {
		t.Error("a delivery is the same by event and target, a group by target")
	}
	if n := len(d.ID()); n == 0 || n > 128 {
		t.Errorf("a name of %d characters", n)
	}
}
