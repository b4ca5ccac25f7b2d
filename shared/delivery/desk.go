package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/metrics"
)

const (
	// slowFor is how long a target is known for slow after an answer that took long.
	slowFor = time.Hour
	// overdue is how long after it was due a turn is taken for lost: longer than a
	// wake that is not handled takes to come again.
	overdue = 5 * time.Minute
	// laneTries is how often a change of a lane is tried that others change, too.
	laneTries = 20
)

// errNoTime says that an invocation is about to end.
var errNoTime = errors.New("there is no time left")

// Desk decides where deliveries wait. What comes from the queue is brought at once,
// where the answer comes promptly; a target that fails, is slow or cannot keep up
// gets a lane, where its deliveries wait in order for their turns, so that it keeps nobody else
// waiting, and fills no queue.
type Desk struct {
	Courier *Courier
	Lanes   Lanes
	Waker   Waker
	Discard Discarder
	// Prompt is how long an answer may take outside of a lane, Patience in one.
	Prompt, Patience time.Duration
	// Behind is how old a delivery may be that is brought outside of a lane: the queue
	// of a target that cannot keep up is not left to grow.
	Behind time.Duration
	// Slice is how long a turn goes on while deliveries arrive, before others are
	// let in. Lease is how long a turn holds its lane at most.
	Slice, Lease time.Duration
	NewID        func() string
	Log          *slog.Logger
}

// Arrival is a delivery as it comes from the queue.
type Arrival struct {
	Delivery Delivery
	Try      Try
	// Place orders the arrivals of a group; the same when one comes again.
	Place string
}

// Receive brings the deliveries of one group, in order, or lets them wait in their
// target's lane. It returns how many are taken care of: after an error the others
// must come again, before those of the group that are behind them.
func (d *Desk) Receive(ctx context.Context, all []Arrival) (taken int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	target := all[0].Delivery.Target
	lane, err := d.Lanes.Lane(ctx, target.Group())
	if err != nil {
		return 0, fmt.Errorf("look at the lane of a delivery: %w", err)
	}
	for lane.Version == 0 && lane.Turn == 0 {
		a := all[taken]
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d.Prompt {
			return taken, errNoTime
		}
		if d.now().Sub(a.Try.Queued) > d.Behind {
			lane = Lane{Group: target.Group(), Turn: 1, Due: d.now()} // it cannot keep up
			break
		}
		result, took := d.bring(ctx, d.Prompt, a.Delivery, a.Try)
		if result.State == Later {
			lane = Lane{
				Group: target.Group(), Turn: 1, Due: d.now().Add(result.Wait), Failures: 1, Head: a.Place, HeadTries: a.Try.Number,
			}
			lane.note(took >= d.Prompt, d.now())
			break
		}
		if err := d.settle(ctx, a.Delivery, result, a.Try.Number); err != nil {
			return taken, err
		}
		if taken++; taken == len(all) {
			return taken, nil
		}
	}
	if err := d.park(ctx, lane, target.Kind, all[taken:]); err != nil {
		return taken, err
	}
	return len(all), nil
}

// park adds deliveries to a lane and sees to it that its turn comes. What comes
// again may have been parked by somebody who died before that.
func (d *Desk) park(ctx context.Context, lane Lane, kind Kind, arrivals []Arrival) error {
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
func (d *Desk) wake(ctx context.Context, l Lane, kind Kind, turn int64) error {
	return d.Waker.Wake(ctx, Wake{Kind: kind, Group: l.Group, Turn: turn}, max(0, l.Due.Sub(d.now())))
}

// bring tries to bring a delivery, with a limit for the answer.
func (d *Desk) bring(ctx context.Context, limit time.Duration, of Delivery, try Try) (Result, time.Duration) {
	c, began := *d.Courier, d.now()
	c.Limit = limit
	result := c.Deliver(ctx, of, try)
	return result, d.now().Sub(began)
}

// settle ends a delivery that is brought, or given up.
func (d *Desk) settle(ctx context.Context, of Delivery, r Result, tries int) error {
	if r.State != GivenUp {
		return nil
	}
	return d.Discard.Discard(ctx, of, r.Reason, tries)
}

func (d *Desk) now() time.Time { return d.Courier.Now() }

// note remembers whether an answer took long.
func (l *Lane) note(slow bool, now time.Time) {
	if slow {
		l.Slow = now.Add(slowFor)
	}
}

// hopeless gives up a delivery whose time is over, behind one that was given up
// just now: to try it would keep others waiting for nothing.
func (d *Desk) hopeless(ctx context.Context, p Parked) error {
	metrics.Count(ctx, metrics.DeliveriesGivenUp, 1)
	return d.Discard.Discard(ctx, p.Delivery, "the target took nothing for "+d.Courier.Pace.Within.String(), p.Tries)
}
