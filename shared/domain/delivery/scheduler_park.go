package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
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
	wake := false
	err := retryChange(ctx, func() error {
		wake = again || lane.Version == 0 || lane.Due.IsZero() || s.now().Sub(lane.Due) > overdue
		if lane.Due.IsZero() {
			lane.Due = s.now()
		}
		err := s.Lanes.Park(ctx, lane, all)
		if errors.Is(err, ErrLaneChanged) {
			again = true
			return cmp.Or(s.reopen(ctx, &lane), err)
		}
		return err
	})
	if err != nil || !wake {
		return err
	}
	return s.wake(ctx, lane, kind, lane.Pass)
}

// reopen replaces a changed lane by the stored one. If no lane is stored, the
// deliveries open a new one.
func (s *Scheduler) reopen(ctx context.Context, lane *Lane) error {
	stored, err := s.Lanes.Lane(ctx, lane.Group)
	switch {
	case err != nil:
		return fmt.Errorf("look at the lane of a delivery: %w", err)
	case stored.Version > 0:
		*lane = stored
	case lane.Version > 0: // it was closed: everything before has been delivered
		*lane = Lane{Group: lane.Group, Pass: lane.Pass + 1, Slow: lane.Slow}
	}
	return nil
}

// retryChange repeats a change of a lane, from the lane's state, while it returns
// ErrLaneChanged. It retries at once: each attempt reads the lane again.
func retryChange(ctx context.Context, try func() error) error {
	changed := func(err error) bool { return errors.Is(err, ErrLaneChanged) }
	return retry.Do(ctx, retry.Policy{Tries: laneTries}, changed, try)
}

// wake schedules a pass for when it is due.
func (s *Scheduler) wake(ctx context.Context, l Lane, kind Kind, turn int64) error {
	return s.Waker.Wake(ctx, Wake{Kind: kind, Group: l.Group, Pass: turn}, max(0, l.Due.Sub(s.now())))
}
