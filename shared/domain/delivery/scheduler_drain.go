package delivery

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/observe/metrics"
)

const (
	// slowFor is how long a target counts as slow after a slow answer.
	slowFor = time.Hour
	// parkedAtOnce is how many deliveries of a lane are read together; goneAtOnce
	// is how many are read, and removed, together if the target is gone.
	parkedAtOnce = 10
	goneAtOnce   = 250
)

// drain delivers the parked deliveries and reports whether the lane is empty; if it
// is not, the next pass is due after wait.
func (p *pass) drain(ctx context.Context) (wait time.Duration, empty bool, err error) {
	end, atOnce := p.now().Add(p.PassTime), parkedAtOnce
	var last Result
	for {
		waiting, err := p.Lanes.Parked(ctx, p.lane.Group, atOnce)
		if err != nil || len(waiting) == 0 {
			return 0, err == nil, err
		}
		atOnce = parkedAtOnce
		for i, d := range waiting {
			skip := last.State == Abandoned && p.expired(d)
			if !skip && (!p.now().Before(end) || ctx.Err() != nil) {
				return 0, false, nil //nolint:nilerr // the next pass continues
			}
			if skip {
				err = p.abandon(ctx, d)
			} else if last, err = p.attempt(ctx, d); last.State == Later {
				return last.Wait, false, nil
			}
			removed := []Parked{d}
			if last.Gone { // all that was read was parked before, for a deleted target
				removed, atOnce = waiting[i:], goneAtOnce
			}
			if err == nil {
				err = p.Lanes.Unpark(ctx, p.lane.Group, positionsOf(removed)...)
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

func positionsOf(all []Parked) []string {
	positions := make([]string, len(all))
	for i, d := range all {
		positions[i] = d.Position
	}
	return positions
}

// attempt tries one delivery. The wait after a failure depends on how often the
// target has failed, whichever delivery it was.
func (p *pass) attempt(ctx context.Context, d Parked) (Result, error) {
	tries := d.Tries
	if p.lane.Head == d.Position {
		tries = p.lane.HeadTries
	}
	try := Try{Number: tries + 1, Failures: p.lane.Failures + 1, Queued: d.Queued}
	result, slow := p.deliverWithin(ctx, p.LaneTimeout, d.Delivery, try)
	p.lane.noteSlow(slow, p.now())
	if result.Nothing {
		p.lane.Slow = time.Time{} // a deleted target keeps no lane
	}
	if result.State == Done {
		p.lane.Failures = 0
		return result, nil
	}
	p.lane.Failures++
	p.lane.Head, p.lane.HeadTries = d.Position, tries+1
	return result, p.finish(ctx, d.Delivery, result, tries+1)
}

// expired reports whether a delivery's time is over. Once its predecessor was
// abandoned, trying it too would only delay the others.
func (p *pass) expired(d Parked) bool {
	retries := p.Worker.Retries
	return p.now().Add(retries.Max).Sub(d.Queued) > retries.Within
}

// abandon discards a delivery without an attempt.
func (p *pass) abandon(ctx context.Context, d Parked) error {
	metrics.Count(ctx, metrics.DeliveriesGivenUp, 1)
	return p.Discard.Discard(ctx, d.Delivery, "the target took nothing for "+p.Worker.Retries.Within.String(), d.Tries)
}

// noteSlow records that an answer was slow.
func (l *Lane) noteSlow(slow bool, now time.Time) {
	if slow {
		l.Slow = now.Add(slowFor)
	}
}
