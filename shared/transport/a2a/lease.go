package a2a

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

// streamSubject is the subject of this protocol's streams: a caller that
// subscribes again does not name the stream that broke off.
const streamSubject = "a2a"

// withLease calls do while it holds one of the caller's open streams. It
// returns quota.Exceeded without calling do if none is free. A stream lasts as
// long as its task, so its lease is short and renewed: a function that dies
// blocks it no longer than that.
func (h *handler) withLease(ctx context.Context, do func(context.Context)) error {
	if h.Streams == nil {
		do(ctx)
		return nil
	}
	lease, err := h.Streams.TakeStream(ctx, quota.Stream{
		UserID: callerOf(ctx).user, Subject: streamSubject, Lasting: h.StreamTurn,
	})
	if err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { h.renew(ctx, cancel, lease) })
	defer func() {
		cancel()
		renewing.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		if err := h.Streams.EndStream(ctx, lease, false); err != nil {
			h.Log.WarnContext(ctx, "the stream's lease was not returned; it counts until it expires", "error", err)
		}
	}()
	do(ctx)
	return nil
}

// renew renews a lease until ctx ends, and ends the stream if the lease is
// lost.
func (h *handler) renew(ctx context.Context, end context.CancelFunc, lease quota.Lease) {
	tick := time.NewTicker(h.StreamTurn)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := h.Streams.RenewStream(ctx, lease, h.StreamTurn)
		switch {
		case errors.Is(err, fault.Of(fault.Conflict)):
			end()
			return
		case err != nil && ctx.Err() == nil:
			h.Log.WarnContext(ctx, "a stream's lease was not renewed", "error", err)
		}
	}
}
