package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// overdue is how long after its due time a pass counts as lost: longer than an
	// unhandled wake takes to return.
	overdue = 5 * time.Minute
	// laneTries is how often a change of a concurrently changed lane is tried.
	laneTries = 20
)

// park adds deliveries to a lane and ensures that its next pass is scheduled. A
// delivery that arrives again may have been parked by a worker that died before it
// scheduled the pass.
func (s *Scheduler) park(ctx context.Context, lane Lane, kind Kind, arrivals []Arrival) error {
	again := false
	all := make([]Parked, len(arrivals))
	for i, a := range arrivals {
		all[i] = Parked{Position: a.Position, Delivery: a.Delivery, Tries: a.Try.Number - 1, Queued: a.Try.Queued}
		again = again || a.Try.Number > 1
	}
	for try := 0; ; try++ {
		wake := again || lane.Version == 0 || lane.Due.IsZero() || s.now().Sub(lane.Due) > overdue
		if lane.Due.IsZero() {
			lane.Due = s.now()
		}
		err := s.Lanes.Park(ctx, lane, all)
		if err == nil && wake {
			return s.wake(ctx, lane, kind, lane.Pass)
		}
		if err == nil || !errors.Is(err, ErrLaneChanged) || try == laneTries {
			return err
		}
		opened := lane
		if lane, err = s.Lanes.Lane(ctx, opened.Group); err != nil {
			return fmt.Errorf("look at the lane of a delivery: %w", err)
		}
		again = true
		if lane.Version == 0 && opened.Version > 0 { // it was closed: everything before has been delivered
			lane = Lane{Group: opened.Group, Pass: opened.Pass + 1, Slow: opened.Slow}
		} else if lane.Version == 0 {
			lane = opened
		}
	}
}

// wake schedules a pass for when it is due.
func (s *Scheduler) wake(ctx context.Context, l Lane, kind Kind, turn int64) error {
	return s.Waker.Wake(ctx, Wake{Kind: kind, Group: l.Group, Pass: turn}, max(0, l.Due.Sub(s.now())))
}
