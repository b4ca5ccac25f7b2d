package delivery_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// laneAttempts is how often a change of a lane is attempted.
const laneAttempts = 20

// change makes every lane appear to have been changed by others before each of the
// next n requests to lanes.
func (h *fixture) change(n int) {
	h.fail = func() (before, after bool) {
		if n--; n >= 0 {
			for group, l := range h.lanes {
				l.Version++
				h.lanes[group] = l
			}
		}
		return false, false
	}
}

// withLane returns a fixture with a lane in which one delivery waits, and that
// lane's wake.
func withLane(t *testing.T) (*fixture, delivery.Wake) {
	t.Helper()
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 500, 0 }
	h.mustReceive(t, h.message("a", 1))
	if len(h.wakes) != 1 {
		t.Fatalf("%d wakes, want 1", len(h.wakes))
	}
	h.answers = func(string) (int, time.Duration) { return 204, 0 }
	h.now = h.wakes[0].at
	w := h.wakes[0].wake
	h.wakes, h.requests = nil, 0
	return h, w
}

func TestScheduler_lane_changed_by_others(t *testing.T) {
	t.Parallel()
	t.Run("parks after others changed the lane", func(t *testing.T) {
		t.Parallel()
		h, _ := withLane(t)
		h.change(2*laneAttempts - 1) // a read and a write per attempt
		h.mustReceive(t, h.message("a", 2))
		if n := len(h.parked[target("a").Group()]); n != 2 {
			t.Errorf("%d deliveries wait, want 2", n)
		}
		if len(h.wakes) != 1 {
			t.Errorf("%d wakes, want one, as the pass may be over", len(h.wakes))
		}
	})
	t.Run("stops parking after 20 attempts", func(t *testing.T) {
		t.Parallel()
		h, _ := withLane(t)
		h.change(1 << 30)
		handled, err := h.scheduler.Receive(t.Context(), []delivery.Arrival{h.message("a", 2).arrival})
		if !errors.Is(err, delivery.ErrLaneChanged) || handled != 0 || h.requests != 2*laneAttempts+1 {
			t.Errorf("handled %d after %d requests: %v", handled, h.requests, err)
		}
	})
	t.Run("stops acquiring a lane after 20 attempts", func(t *testing.T) {
		t.Parallel()
		h, w := withLane(t)
		h.change(1 << 30)
		err := h.scheduler.RunPass(t.Context(), w)
		if !errors.Is(err, delivery.ErrLaneChanged) || h.requests != 2*laneAttempts {
			t.Errorf("after %d requests: %v", h.requests, err)
		}
	})
	t.Run("reschedules a pass that cannot end after 20 attempts", func(t *testing.T) {
		t.Parallel()
		h, w := withLane(t)
		h.fail = func() (before, after bool) {
			if l := h.lanes[w.Group]; l.Holder != "" && len(h.wakes) == 0 {
				l.Version++
				h.lanes[w.Group] = l
			}
			return false, false
		}
		if err := h.scheduler.RunPass(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		l := h.lanes[w.Group]
		if len(h.wakes) != 1 || h.wakes[0].wake.Pass != w.Pass+1 || l.Holder != "" || l.Pass != w.Pass+1 {
			t.Errorf("wakes %v, lane %+v, want the next pass", h.wakes, l)
		}
		// Acquire: 2. Deliver: read, remove. Then read, close, read again per attempt.
		// Reschedule: wake, save, read again, save.
		if want := 2 + 2 + 3*laneAttempts + 4; h.requests != want {
			t.Errorf("%d requests, want %d", h.requests, want)
		}
		if len(h.received["a"]) != 1 {
			t.Errorf("delivered %v", h.received["a"])
		}
	})
}

func target(name string) delivery.Target { return delivery.Target{Kind: kind, Name: name} }
