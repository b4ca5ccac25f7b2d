package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	eventstream "github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

const (
	// leaseTime bounds the return of a lease.
	leaseTime = 2 * time.Second
	// maxReconnectTime bounds the wait, without its jitter, sent to a reader whose reconnect is turned away.
	maxReconnectTime = 10 * time.Second
)

var errReplaced = errors.New("the reader has reconnected on another stream")

// acquire takes a lease on one of the user's open streams.
func (c Config) acquire(ctx context.Context, user string, req request, lasting time.Duration) (quota.Lease, *refusal) {
	if c.Streams == nil {
		return quota.Lease{}, nil
	}
	lease, err := c.Streams.TakeStream(ctx, quota.Stream{
		UserID: user, Subject: req.sessionID, Resumed: req.resumed, Lasting: lasting,
	})
	var f *fault.Error
	switch {
	case errors.As(err, &f) && f.Kind == fault.Busy:
		return lease, &refusal{status: http.StatusTooManyRequests, fault: f}
	case err != nil:
		return lease, unavailable(fmt.Errorf("count the open streams: %w", err))
	}
	return lease, nil
}

// reconnectLater answers a reader that reconnects while no stream can begin: a
// stream with nothing but the time after which to try again. EventSource gives
// up for good on any status but 200.
func (c Config) reconnectLater(r *refusal) io.Reader {
	wait := min(max(r.fault.RetryAfter, time.Second), maxReconnectTime)
	wait += time.Duration(c.Random() * float64(wait)) // many readers may have reconnected at once
	m := eventstream.Message{Retry: wait}
	m.AppendComment(fmt.Sprintf("%d, come back later", r.status))
	return strings.NewReader(m.String())
}

// watchLease ends the stream once another stream has its lease: the reader has
// reconnected, but this function has not noticed that it left.
func (s *stream) watchLease(ctx context.Context, end context.CancelCauseFunc) {
	if s.lease.Holder == "" {
		return
	}
	check := time.NewTicker(s.Check)
	defer check.Stop()
	for {
		select {
		case <-check.C:
		case <-ctx.Done():
			return
		}
		held, err := s.Streams.HoldsStream(ctx, s.lease)
		if err == nil && !held {
			end(errReplaced)
			return
		}
	}
}

// giveBack returns the lease. With expected set, the lease is reserved for a
// while: the reader should reconnect and has everything that existed when the
// stream began.
func (c Config) giveBack(ctx context.Context, lease quota.Lease, expected bool) {
	if lease.Holder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	if err := c.Streams.EndStream(ctx, lease, expected); err != nil {
		c.Log.WarnContext(ctx, "the stream's lease was not returned; it counts until it expires", "error", err)
	}
}

// release returns the lease, depending on why the stream ends.
func (s *stream) release(ctx context.Context, why error) {
	var ended *subscription.EndedError
	switch {
	case errors.Is(why, errReplaced): // another stream has the lease
	case errors.Is(why, order.ErrDeleted), errors.Is(why, errToken), errors.As(why, &ended):
		s.giveBack(ctx, s.lease, false)
	default:
		s.giveBack(ctx, s.lease, s.order.CaughtUp())
	}
}
