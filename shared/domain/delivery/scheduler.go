package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// errNoTime says that an invocation is about to end.
var errNoTime = errors.New("there is no time left")

// Scheduler decides where deliveries wait. What comes from the queue is brought at once,
// where the answer comes promptly; a target that fails, is slow or cannot keep up
// gets a lane, where its deliveries wait in order for their turns, so that it keeps nobody else
// waiting, and fills no queue.
type Scheduler struct {
	Worker  *Worker
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
func (d *Scheduler) Receive(ctx context.Context, all []Arrival) (taken int, err error) {
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
		result, slow := d.deliverFirst(ctx, d.Prompt, a.Delivery, a.Try)
		if result.State == Later {
			lane = Lane{
				Group: target.Group(), Turn: 1, Due: d.now().Add(result.Wait), Failures: 1, Head: a.Place, HeadTries: a.Try.Number,
			}
			lane.note(slow, d.now())
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

// deliverFirst tries to bring a delivery, with a limit for the answer, and says whether that
// took longer than outside of a lane. An actor is not held to that, and needs no lane
// for it.
func (d *Scheduler) deliverFirst(ctx context.Context, limit time.Duration, of Delivery, try Try) (r Result, slow bool) {
	c, began := *d.Worker, d.now()
	c.Limit = limit
	result := c.Deliver(ctx, of, try)
	_, acts := c.Actors[of.Target.Kind]
	return result, !acts && d.now().Sub(began) >= d.Prompt
}

// settle ends a delivery that is brought, or given up.
func (d *Scheduler) settle(ctx context.Context, of Delivery, r Result, tries int) error {
	if r.State != GivenUp {
		return nil
	}
	return d.Discard.Discard(ctx, of, r.Reason, tries)
}

func (d *Scheduler) now() time.Time { return d.Worker.Now() }
