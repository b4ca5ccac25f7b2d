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

// Scheduler decides where deliveries wait. A delivery from the queue is tried at
// once, with a short time limit. A target that fails, is slow or cannot keep up
// gets a lane, where its deliveries wait in order for the lane's passes, so that it
// neither delays other targets nor fills a queue.
type Scheduler struct {
	Worker  *Worker
	Lanes   Lanes
	Waker   Waker
	Discard Discarder
	// DirectTimeout limits an answer outside of a lane, LaneTimeout in one.
	DirectTimeout, LaneTimeout time.Duration
	// MaxDirectAge is the maximum age of a delivery that is tried outside of a
	// lane; if it is older, its target cannot keep up and gets a lane.
	MaxDirectAge time.Duration
	// PassTime is how long a pass continues before others are let in. Lease is how
	// long a pass may hold its lane.
	PassTime, Lease time.Duration
	NewID           func() string
	Log             *slog.Logger
}

// Arrival is a delivery from the queue.
type Arrival struct {
	Delivery Delivery
	Try      Try
	// Position orders the arrivals of a group; it is the same when one arrives
	// again.
	Position string
}

// Receive delivers the deliveries of one group, in order, or parks them in their
// target's lane. It returns how many are taken care of: after an error the others
// must arrive again, before later ones of the group.
func (s *Scheduler) Receive(ctx context.Context, all []Arrival) (handled int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	target := all[0].Delivery.Target
	lane, err := s.Lanes.Lane(ctx, target.Group())
	if err != nil {
		return 0, fmt.Errorf("look at the lane of a delivery: %w", err)
	}
	for lane.Version == 0 && lane.Pass == 0 {
		a := all[handled]
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < s.DirectTimeout {
			return handled, errNoTime
		}
		if s.now().Sub(a.Try.Queued) > s.MaxDirectAge {
			lane = Lane{Group: target.Group(), Pass: 1, Due: s.now()} // it cannot keep up
			break
		}
		result, slow := s.deliverWithin(ctx, s.DirectTimeout, a.Delivery, a.Try)
		if result.State == Later {
			lane = Lane{
				Group: target.Group(), Pass: 1, Due: s.now().Add(result.Wait), Failures: 1, Head: a.Position, HeadTries: a.Try.Number,
			}
			lane.noteSlow(slow, s.now())
			break
		}
		if err := s.finish(ctx, a.Delivery, result, a.Try.Number); err != nil {
			return handled, err
		}
		if handled++; handled == len(all) {
			return handled, nil
		}
	}
	if err := s.park(ctx, lane, target.Kind, all[handled:]); err != nil {
		return handled, err
	}
	return len(all), nil
}

// deliverWithin tries a delivery with a limit for the answer, and reports whether
// it took longer than DirectTimeout. Actors have no limit and are never slow.
func (s *Scheduler) deliverWithin(ctx context.Context, limit time.Duration, d Delivery, try Try) (r Result, slow bool) {
	worker, began := *s.Worker, s.now()
	worker.Limit = limit
	result := worker.Deliver(ctx, d, try)
	_, acts := worker.Actors[d.Target.Kind]
	return result, !acts && s.now().Sub(began) >= s.DirectTimeout
}

// finish discards a delivery that was abandoned.
func (s *Scheduler) finish(ctx context.Context, d Delivery, r Result, tries int) error {
	if r.State != Abandoned {
		return nil
	}
	return s.Discard.Discard(ctx, d, r.Reason, tries)
}

func (s *Scheduler) now() time.Time { return s.Worker.Now() }
