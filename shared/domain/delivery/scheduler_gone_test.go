package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// gone is where targets are gone, until they are made anew.
type gone struct {
	*hall
	looks int
	// anew is at which look the targets are there again; 0 for never.
	anew func(looks int) bool
	// err says that they are not.
	err error
}

func (g *gone) Messages(ctx context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	if g.looks++; g.anew != nil && g.anew(g.looks) {
		return g.hall.Messages(ctx, d)
	}
	return nil, g.err
}

// mustTurn handles wakes until none is left, and returns how many there were.
func (h *hall) mustTurn(t *testing.T) (turns int) {
	t.Helper()
	for ; len(h.wakes) > 0; turns++ {
		w := h.wakes[0]
		h.wakes, h.now = h.wakes[1:], w.at
		if err := h.scheduler.Turn(t.Context(), w.wake); err != nil {
			t.Fatal(err)
		}
	}
	return turns
}

// mustLeave holds that so many lanes and deliveries are left.
func (h *hall) mustLeave(t *testing.T, lanes, deliveries int) {
	t.Helper()
	parked := 0
	for _, lane := range h.parked {
		parked += len(lane)
	}
	if len(h.lanes) != lanes || parked != deliveries {
		t.Errorf("left are %v and %d deliveries, after posts %v", h.lanes, parked, h.posts)
	}
}

// A slow target that is gone keeps no lane, although it was slow until then.
func TestDesk_target_that_is_gone(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"gone": delivery.ErrGone, "with nothing to hear": delivery.ErrNothing} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall()
			h.answers = func(string) (int, time.Duration) { return 200, 8 * time.Second }
			for i := range 3 {
				h.mustReceive(t, h.message("slow", i))
			}
			h.scheduler.Worker.Builders = map[delivery.Kind]delivery.MessageBuilder{kind: &gone{hall: h, err: err}}
			h.mustTurn(t)
			if h.mustLeave(t, 0, 0); len(h.posts) != 1 {
				t.Errorf("posts %v", h.posts)
			}
		})
	}
}

// What waits for a target that is gone is removed together, as much as there is time
// for in a turn, and goes on with the next; whoever else has a lane keeps it.
func TestDesk_removes_what_waits_for_a_target_that_is_gone(t *testing.T) {
	t.Parallel()
	const waiting, most = 2000, 100
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 500, 0 }
	for i := range waiting {
		h.mustReceive(t, h.message("gone", i))
	}
	h.mustReceive(t, h.message("other", 0))
	other := h.wakes[len(h.wakes)-1]
	h.wakes = h.wakes[:1]
	g := &gone{hall: h, err: delivery.ErrGone}
	h.scheduler.Worker.Builders = map[delivery.Kind]delivery.MessageBuilder{kind: g}
	h.requests, h.unparks, h.scheduler.Slice = 0, 5*time.Second, 9*time.Second
	turns := h.mustTurn(t)
	h.mustLeave(t, 1, 1)
	t.Logf("%d deliveries removed by %d requests and %d looks at the target in %d turns", waiting, h.requests, g.looks, turns)
	if h.requests > most || g.looks > most || turns < 2 {
		t.Errorf("want %d requests and looks at most, in turns", most)
	}
	h.wakes = []pending{other}
	g.anew = func(int) bool { return true }
	h.answers = func(string) (int, time.Duration) { return 200, 0 }
	if h.mustTurn(t); !slices.Equal(h.heard["other"], []string{"0000"}) {
		t.Errorf("the other hears %v", h.heard)
	}
}

// A target that was gone and is made anew hears what is parked for it since.
func TestDesk_target_made_anew(t *testing.T) {
	t.Parallel()
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 500, 0 }
	for i := range 30 {
		h.mustReceive(t, h.message("again", i))
	}
	h.answers = func(string) (int, time.Duration) { return 200, 0 }
	g := &gone{hall: h, err: delivery.ErrGone}
	made := false
	g.anew = func(looks int) bool {
		if looks == 2 { // it is made behind the look, and something is parked for it
			made = true
			h.mustReceive(t, h.message("again", 30))
			return false
		}
		return made
	}
	h.scheduler.Worker.Builders = map[delivery.Kind]delivery.MessageBuilder{kind: g}
	h.mustTurn(t)
	h.mustLeave(t, 0, 0)
	if want := []string{fmt.Sprintf("%04d", 30)}; !slices.Equal(h.heard["again"], want) {
		t.Errorf("heard %v, want %v", h.heard["again"], want)
	}
}

// An actor that takes long keeps no lane for it: it is not cut off anywhere.
func TestDesk_actor_that_takes_long(t *testing.T) {
	t.Parallel()
	h := newHall()
	h.scheduler.Worker.Actors = map[delivery.Kind]delivery.Actor{kind: &longActor{hall: h}}
	h.mustReceive(t, h.message("busy", 0))
	h.mustTurn(t)
	h.mustLeave(t, 0, 0)
}

// longActor takes long, and has something in its way at first.
type longActor struct {
	*hall
	tries int
}

func (a *longActor) Act(context.Context, delivery.Delivery) error {
	a.now = a.now.Add(8 * time.Second)
	if a.tries++; a.tries == 1 {
		return delivery.ErrNotYet
	}
	return nil
}
