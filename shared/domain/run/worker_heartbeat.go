package run

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// heartbeat says when to look whether the run still lives, and when to say that
// its worker does. Any write that lands is as good as a look.
type heartbeat struct {
	timer *time.Timer
	pace  Pace
	seen  time.Time // when the run was last known to live
	renew time.Time // when the lease is extended next
}

func newHeartbeat(p Pace) heartbeat {
	now := time.Now()
	return heartbeat{timer: time.NewTimer(min(p.CheckEvery, p.RenewEvery)), pace: p, seen: now, renew: now.Add(p.RenewEvery)}
}

// wait is how long nothing needs to be done.
func (p *heartbeat) wait() time.Duration {
	return min(time.Until(p.seen.Add(p.pace.CheckEvery)), time.Until(p.renew))
}

// keepAlive looks after the run when that is due. A look that fails is no reason to
// stop: the lease outlasts several.
func (x *execution) keepAlive(ctx context.Context) error {
	defer func() { x.heartbeat.timer.Reset(x.heartbeat.wait()) }()
	if x.heartbeat.wait() > 0 {
		return nil
	}
	over, err := x.checkAlive(ctx)
	x.heartbeat.seen = time.Now()
	if err != nil {
		x.log.WarnContext(ctx, "the run could not be looked after", "error", err)
	}
	if over {
		return errOver
	}
	return nil
}

// checkAlive extends the lease, which a run that is over refuses, or just reads the
// run: a read costs less.
func (x *execution) checkAlive(ctx context.Context) (over bool, err error) {
	if time.Until(x.heartbeat.renew) > 0 {
		r, err := x.Store.Run(ctx, x.ref)
		if err != nil {
			return gone(err), err
		}
		return r.Status.Over(), nil
	}
	err = x.Store.Renew(ctx, x.ref)
	x.heartbeat.renew = time.Now().Add(x.pace.RenewEvery)
	if err != nil {
		x.heartbeat.renew = time.Now().Add(x.pace.CheckEvery)
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
	x.heartbeat.seen = time.Now()
	return nil
}
