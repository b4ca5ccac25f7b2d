package delivery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
)

// fakeQueue is the targets of events and the queue.
type fakeQueue struct {
	targets []delivery.Target
	fails   string // a target whose deliveries the queue refuses
	failsAt string // only for this event, unless it is ""
	lost    error

	mu  sync.Mutex
	put []string
}

func (b *fakeQueue) Targets(context.Context, notification.Event) ([]delivery.Target, error) {
	return b.targets, b.lost
}

func (b *fakeQueue) Put(_ context.Context, d delivery.Delivery) error {
	if d.Target.Name == b.fails && (b.failsAt == "" || b.failsAt == d.Event.ID) {
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
		board *fakeQueue
		put   []string
		fails bool
	}{
		"an event is queued for each target":         {board: &fakeQueue{targets: two}, put: []string{"a e", "b e"}},
		"an event without targets is not queued":     {board: &fakeQueue{}},
		"returns an error if targets cannot be read": {board: &fakeQueue{lost: errors.New("no table")}, fails: true},
		"returns an error if the queue fails":        {board: &fakeQueue{targets: two[:1], fails: "a"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := test.board
			d := &delivery.Dispatcher{Targets: b, Queue: b}
			all, err := d.Find(t.Context(), notification.Event{ID: "e"})
			err = errors.Join(append(d.Put(t.Context(), all), err)...)
			slices.Sort(b.put)
			if diff := cmp.Diff(test.put, b.put); diff != "" || (err != nil) != test.fails {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A refused delivery holds up its own group and no other.
func TestPut_keeps_the_order_of_groups(t *testing.T) {
	t.Parallel()
	b := &fakeQueue{fails: "b", failsAt: "2"}
	var all []delivery.Delivery
	for _, id := range []string{"1", "2", "3"} {
		for _, name := range []string{"a", "b", "c"} {
			all = append(all, delivery.Delivery{Event: notification.Event{ID: id}, Target: delivery.Target{Kind: kind, Name: name}})
		}
	}
	errs := (&delivery.Dispatcher{Queue: b}).Put(t.Context(), all)
	var failed []int
	for i, err := range errs {
		if errors.Is(err, delivery.ErrUnqueued) {
			failed = append(failed, i)
		}
	}
	slices.SortStableFunc(b.put, func(x, y string) int { return strings.Compare(x[:1], y[:1]) })
	want := []string{"a 1", "a 2", "a 3", "b 1", "c 1", "c 2", "c 3"}
	if diff := cmp.Diff(want, b.put) + cmp.Diff([]int{4, 7}, failed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	d := delivery.Delivery{Event: notification.Event{ID: "e", Time: 1}, Target: delivery.Target{Kind: kind, Name: "a"}}
	again, other := d, d
	again.Event.Time, other.Event.ID = 2, "f"
	if d.ID() != again.ID() || d.ID() == other.ID() || d.Target.Group() != other.Target.Group() {
		t.Error("a delivery is the same by event and target, a group by target")
	}
	if n := len(d.ID()); n == 0 || n > 128 {
		t.Errorf("a name of %d characters", n)
	}
}
