package run

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// heartbeat schedules checks that the run still lives, and renewals of its lease. A
// write that succeeds counts as a check.
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

// wait returns the time until the next action.
func (p *heartbeat) wait() time.Duration {
	return min(time.Until(p.seen.Add(p.pace.CheckEvery)), time.Until(p.renew))
}

// keepAlive checks or renews the run when that is due. A failed check does not stop
// the run: the lease outlasts several.
func (x *execution) keepAlive(ctx context.Context) error {
	defer func() { x.heartbeat.timer.Reset(x.heartbeat.wait()) }()
	if x.heartbeat.wait() > 0 {
		return nil
	}
	over, err := x.checkAlive(ctx)
	x.heartbeat.seen = time.Now()
	if err != nil {
		x.log.WarnContext(ctx, "the heartbeat failed", "error", err)
	}
	if over {
		return errRunEnded
	}
	return nil
}

// checkAlive extends the lease, which a final run refuses, or just reads the run,
// which costs less.
func (x *execution) checkAlive(ctx context.Context) (over bool, err error) {
	if time.Until(x.heartbeat.renew) > 0 {
		r, err := x.Store.Run(ctx, x.ref)
		if err != nil {
			return isDeleted(err), err
		}
		return x.isOver(r), nil
	}
	err = x.Store.Renew(ctx, x.ref)
	x.heartbeat.renew = time.Now().Add(x.pace.RenewEvery)
	if err != nil {
		x.heartbeat.renew = time.Now().Add(x.pace.CheckEvery)
	}
	if isDeleted(err) || errors.Is(err, fault.Of(fault.Conflict)) {
		return true, nil
	}
	return false, err
}

// write makes one write of the run.
func (x *execution) write(ctx context.Context, do func() error) error {
	if err := retryBusy(ctx, do); err != nil {
		return x.failureOf(ctx, err)
	}
	x.heartbeat.seen = time.Now()
	return nil
}
