package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// gone is a builder whose targets are gone until they are created again.
type gone struct {
	*fixture
	looks int
	// anew reports at which check the targets exist again.
	anew func(looks int) bool
	// err says that they do not exist.
	err error
}

func (g *gone) Messages(ctx context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	if g.looks++; g.anew != nil && g.anew(g.looks) {
		return g.fixture.Messages(ctx, d)
	}
	return nil, g.err
}

// mustRunPasses handles wakes until none is left, and returns how many there were.
func (h *fixture) mustRunPasses(t *testing.T) (turns int) {
	t.Helper()
	for ; len(h.wakes) > 0; turns++ {
		w := h.wakes[0]
		h.wakes, h.now = h.wakes[1:], w.at
		if err := h.scheduler.RunPass(t.Context(), w.wake); err != nil {
			t.Fatal(err)
		}
	}
	return turns
}

// mustRemain checks how many lanes and deliveries are left.
func (h *fixture) mustRemain(t *testing.T, lanes, deliveries int) {
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
func TestScheduler_deleted_target(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"gone": delivery.ErrGone, "with nothing to deliver": delivery.ErrNothing} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHall()
			h.answers = func(string) (int, time.Duration) { return 200, 8 * time.Second }
			for i := range 3 {
				h.mustReceive(t, h.message("slow", i))
			}
			h.scheduler.Worker.Builders = map[delivery.Kind]delivery.MessageBuilder{kind: &gone{fixture: h, err: err}}
			h.mustRunPasses(t)
			if h.mustRemain(t, 0, 0); len(h.posts) != 1 {
				t.Errorf("posts %v", h.posts)
			}
		})
	}
}

// The deliveries parked for a deleted target are removed together, as many as a
// pass has time for, and the next pass continues; other targets keep their lanes.
func TestScheduler_removes_deliveries_of_a_deleted_target(t *testing.T) {
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
	g := &gone{fixture: h, err: delivery.ErrGone}
	h.scheduler.Worker.Builders = map[delivery.Kind]delivery.MessageBuilder{kind: g}
	h.requests, h.unparks, h.scheduler.PassTime = 0, 5*time.Second, 9*time.Second
	turns := h.mustRunPasses(t)
	h.mustRemain(t, 1, 1)
	t.Logf("%d deliveries removed by %d requests and %d looks at the target in %d turns", waiting, h.requests, g.looks, turns)
	if h.requests > most || g.looks > most || turns < 2 {
		t.Errorf("want %d requests and looks at most, in turns", most)
	}
	h.wakes = []pending{other}
	g.anew = func(int) bool { return true }
	h.answers = func(string) (int, time.Duration) { return 200, 0 }
	if h.mustRunPasses(t); !slices.Equal(h.received["other"], []string{"0000"}) {
		t.Errorf("the other receives %v", h.received)
	}
}

// A target that is deleted and created again gets the deliveries parked since.
func TestScheduler_recreated_target(t *testing.T) {
	t.Parallel()
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 500, 0 }
	for i := range 30 {
		h.mustReceive(t, h.message("again", i))
	}
	h.answers = func(string) (int, time.Duration) { return 200, 0 }
	g := &gone{fixture: h, err: delivery.ErrGone}
	made := false
	g.anew = func(looks int) bool {
		if looks == 2 { // the target is created after the check, and a delivery is parked for it
			made = true
			h.mustReceive(t, h.message("again", 30))
			return false
		}
		return made
	}
	h.scheduler.Worker.Builders = map[delivery.Kind]delivery.MessageBuilder{kind: g}
	h.mustRunPasses(t)
	h.mustRemain(t, 0, 0)
	if want := []string{fmt.Sprintf("%04d", 30)}; !slices.Equal(h.received["again"], want) {
		t.Errorf("received %v, want %v", h.received["again"], want)
	}
}

// A slow actor keeps no lane: it has no time limit.
func TestScheduler_slow_actor(t *testing.T) {
	t.Parallel()
	h := newHall()
	h.scheduler.Worker.Actors = map[delivery.Kind]delivery.Actor{kind: &longActor{fixture: h}}
	h.mustReceive(t, h.message("busy", 0))
	h.mustRunPasses(t)
	h.mustRemain(t, 0, 0)
}

// longActor takes long, and fails at first.
type longActor struct {
	*fixture
	tries int
}

func (a *longActor) Act(context.Context, delivery.Delivery) error {
	a.now = a.now.Add(8 * time.Second)
	if a.tries++; a.tries == 1 {
		return delivery.ErrNotYet
	}
	return nil
}
