package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

// releaseTime bounds the return of a lease.
const releaseTime = 5 * time.Second

// Leases take slots among the open streams of users.
type Leases struct {
	Streams quota.Streams // nil does not limit streams
	// Turn is how long the lease of a dead stream counts, and the interval at which
	// a live stream renews its lease.
	Turn time.Duration
	// Subject is the subject of the protocol's streams: a caller that subscribes
	// again does not name the stream that broke off.
	Subject string
	Log     *slog.Logger
}

// ErrLost is the cause of the context of a stream whose slot another stream has.
var ErrLost = errors.New("another stream has this stream's slot")

// Do calls do while it holds one of the user's open streams. It returns
// quota.Exceeded without calling do if none is free. A stream lasts as long as its
// run, so its lease is short and renewed: a function that dies blocks it no longer
// than that.
func (l Leases) Do(ctx context.Context, user string, do func(context.Context)) error {
	if l.Streams == nil {
		do(ctx)
		return nil
	}
	lease, err := l.Streams.TakeStream(ctx, quota.Stream{UserID: user, Subject: l.Subject, Lasting: l.Turn})
	if err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { l.renew(ctx, cancel, lease) })
	defer func() {
		cancel(nil)
		renewing.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		if err := l.Streams.EndStream(ctx, lease, false); err != nil {
			l.Log.WarnContext(ctx, "the stream's lease was not returned; it counts until it expires", "error", err)
		}
	}()
	do(ctx)
	return nil
}

// renew renews a lease until ctx ends, and ends the stream if the lease is
// lost.
func (l Leases) renew(ctx context.Context, end context.CancelCauseFunc, lease quota.Lease) {
	tick := time.NewTicker(l.Turn)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := l.Streams.RenewStream(ctx, lease, l.Turn)
		switch {
		case errors.Is(err, fault.Of(fault.Conflict)):
			end(ErrLost)
			return
		case err != nil && ctx.Err() == nil:
			l.Log.WarnContext(ctx, "a stream's lease was not renewed", "error", err)
		}
	}
}
