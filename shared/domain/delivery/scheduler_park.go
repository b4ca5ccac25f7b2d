package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// overdue is how long after it was due a turn is taken for lost: longer than a
	// wake that is not handled takes to come again.
	overdue = 5 * time.Minute
	// laneTries is how often a change of a lane is tried that others change, too.
	laneTries = 20
)

// park adds deliveries to a lane and sees to it that its turn comes. What comes
// again may have been parked by somebody who died before that.
func (d *Scheduler) park(ctx context.Context, lane Lane, kind Kind, arrivals []Arrival) error {
	again := false
	all := make([]Parked, len(arrivals))
	for i, a := range arrivals {
		all[i] = Parked{Place: a.Place, Delivery: a.Delivery, Tries: a.Try.Number - 1, Queued: a.Try.Queued}
		again = again || a.Try.Number > 1
	}
	for try := 0; ; try++ {
		wake := again || lane.Version == 0 || lane.Due.IsZero() || d.now().Sub(lane.Due) > overdue
		if lane.Due.IsZero() {
			lane.Due = d.now()
		}
		err := d.Lanes.Park(ctx, lane, all)
		if err == nil && wake {
			return d.wake(ctx, lane, kind, lane.Turn)
		}
		if err == nil || !errors.Is(err, ErrLaneChanged) || try == laneTries {
			return err
		}
		opened := lane
		if lane, err = d.Lanes.Lane(ctx, opened.Group); err != nil {
			return fmt.Errorf("look at the lane of a delivery: %w", err)
		}
		again = true
		if lane.Version == 0 && opened.Version > 0 { // it was closed: everything before has arrived
			lane = Lane{Group: opened.Group, Turn: opened.Turn + 1, Slow: opened.Slow}
		} else if lane.Version == 0 {
			lane = opened
		}
	}
}

// wake has the turn come when it is due.
func (d *Scheduler) wake(ctx context.Context, l Lane, kind Kind, turn int64) error {
	return d.Waker.Wake(ctx, Wake{Kind: kind, Group: l.Group, Turn: turn}, max(0, l.Due.Sub(d.now())))
}
