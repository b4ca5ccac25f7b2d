package delivery

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/observe/metrics"
)

const (
	// slowFor is how long a target is known for slow after an answer that took long.
	slowFor = time.Hour
	// parkedAtOnce is how many deliveries of a lane are read together, and goneAtOnce
	// how many where the target is gone: they are removed together.
	parkedAtOnce = 10
	goneAtOnce   = 250
)

// drain brings what waits, and says whether it was all; else the lane rests for
// wait.
func (t *turn) drain(ctx context.Context) (wait time.Duration, empty bool, err error) {
	end, atOnce := t.now().Add(t.Slice), parkedAtOnce
	var last Result
	for {
		waiting, err := t.Lanes.Parked(ctx, t.lane.Group, atOnce)
		if err != nil || len(waiting) == 0 {
			return 0, err == nil, err
		}
		atOnce = parkedAtOnce
		for i, p := range waiting {
			hopeless := last.State == GivenUp && t.hopeless(p)
			if !hopeless && (!t.now().Before(end) || ctx.Err() != nil) {
				return 0, false, nil //nolint:nilerr // what is left comes with the next turn
			}
			if hopeless {
				err = t.giveUp(ctx, p)
			} else if last, err = t.one(ctx, p); last.State == Later {
				return last.Wait, false, nil
			}
			done := []Parked{p}
			if last.Gone { // all that was read was parked before, and for what is gone
				done, atOnce = waiting[i:], goneAtOnce
			}
			if err == nil {
				err = t.Lanes.Unpark(ctx, t.lane.Group, placesOf(done)...)
			}
			if err != nil {
				return 0, false, err
			}
			if last.Gone {
				break
			}
		}
	}
}

func placesOf(all []Parked) []string {
	places := make([]string, len(all))
	for i, p := range all {
		places[i] = p.Place
	}
	return places
}

// one tries one delivery. How long the target is left alone after a failure is by
// how often it has failed, whichever delivery it was.
func (t *turn) one(ctx context.Context, p Parked) (Result, error) {
	tries := p.Tries
	if t.lane.Head == p.Place {
		tries = t.lane.HeadTries
	}
	try := Try{Number: tries + 1, Failures: t.lane.Failures + 1, Queued: p.Queued}
	result, slow := t.deliverFirst(ctx, t.Patience, p.Delivery, try)
	t.lane.note(slow, t.now())
	if result.Nothing {
		t.lane.Slow = time.Time{} // a target that is gone keeps no lane
	}
	if result.State == Done {
		t.lane.Failures = 0
		return result, nil
	}
	t.lane.Failures++
	t.lane.Head, t.lane.HeadTries = p.Place, tries+1
	return result, t.settle(ctx, p.Delivery, result, tries+1)
}

// hopeless reports whether a delivery's time is over. Behind one that was given up
// just now, to try it would keep others waiting for nothing.
func (t *turn) hopeless(p Parked) bool {
	pace := t.Worker.Retries
	return t.now().Add(pace.Most).Sub(p.Queued) > pace.Within
}

// giveUp gives up a delivery without a try.
func (t *turn) giveUp(ctx context.Context, p Parked) error {
	metrics.Count(ctx, metrics.DeliveriesGivenUp, 1)
	return t.Discard.Discard(ctx, p.Delivery, "the target took nothing for "+t.Worker.Retries.Within.String(), p.Tries)
}

// note remembers whether an answer took long.
func (l *Lane) note(slow bool, now time.Time) {
	if slow {
		l.Slow = now.Add(slowFor)
	}
}
