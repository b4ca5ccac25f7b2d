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

// streamSubject is what the streams of this protocol are about: who subscribes
// to a task again does not say which stream it was that broke off.
const streamSubject = "a2a"

// whileCounted does something that may go on for long, with a place among the
// caller's open streams. It is quota.Exceeded, and nothing was done, where none
// is free. A stream lasts for as long as its task may, so its lease is a short
// one that is renewed: what dies holds its place for no longer.
func (h *handler) whileCounted(ctx context.Context, do func(context.Context)) error {
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		if err := h.Streams.EndStream(ctx, lease, false); err != nil {
			h.Log.WarnContext(ctx, "the place of a stream is taken until its lease is out", "error", err)
		}
	}()
	do(ctx)
	return nil
}

// renew keeps a lease until ctx ends, and ends the stream whose lease is lost.
func (h *handler) renew(ctx context.Context, end context.CancelFunc, lease quota.Lease) {
	again := time.NewTicker(h.StreamTurn)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		err := h.Streams.RenewStream(ctx, lease, h.StreamTurn)
		switch {
		case errors.Is(err, fault.Of(fault.Conflict)):
			end()
			return
		case err != nil && ctx.Err() == nil:
			h.Log.WarnContext(ctx, "the lease of a stream is not renewed", "error", err)
		}
	}
}
