package run

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// pulse says when to look whether the run still lives, and when to say that
// its worker does. Any write that lands is as good as a look.
type pulse struct {
	timer *time.Timer
	pace  Pace
	seen  time.Time // when the run was last known to live
	renew time.Time // when the lease is extended next
}

func newPulse(p Pace) pulse {
	now := time.Now()
	return pulse{timer: time.NewTimer(min(p.CheckEvery, p.RenewEvery)), pace: p, seen: now, renew: now.Add(p.RenewEvery)}
}

// wait is how long nothing needs to be done.
func (p *pulse) wait() time.Duration {
	return min(time.Until(p.seen.Add(p.pace.CheckEvery)), time.Until(p.renew))
}

// beat looks after the run when that is due. A look that fails is no reason to
// stop: the lease outlasts several.
func (x *execution) beat(ctx context.Context) error {
	defer func() { x.pulse.timer.Reset(x.pulse.wait()) }()
	if x.pulse.wait() > 0 {
		return nil
	}
	over, err := x.look(ctx)
	x.pulse.seen = time.Now()
	if err != nil {
		x.log.WarnContext(ctx, "the run could not be looked after", "error", err)
	}
	if over {
		return errOver
	}
	return nil
}

// look extends the lease, which a run that is over refuses, or just reads the
// run: a read costs less.
func (x *execution) look(ctx context.Context) (over bool, err error) {
	if time.Until(x.pulse.renew) > 0 {
		r, err := x.Store.Run(ctx, x.ref)
		if err != nil {
			return gone(err), err
		}
		return r.Status.Over(), nil
	}
	err = x.Store.Renew(ctx, x.ref)
	x.pulse.renew = time.Now().Add(x.pace.RenewEvery)
	if err != nil {
		x.pulse.renew = time.Now().Add(x.pace.CheckEvery)
	}
	if gone(err) || errors.Is(err, fault.Of(fault.Conflict)) {
		return true, nil
	}
	return false, err
}

// write makes one write of the run's.
func (x *execution) write(ctx context.Context, do func() error) error {
	if err := patiently(ctx, do); err != nil {
		return x.refused(ctx, err)
	}
	x.pulse.seen = time.Now()
	return nil
}
