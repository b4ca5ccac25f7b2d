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
	// leaseTime is how long giving a lease back may take.
	leaseTime = 2 * time.Second
	// comeBackMost is the longest that a reader is told to wait who comes back in vain.
	comeBackMost = 10 * time.Second
)

var errReplaced = errors.New("the reader has come back elsewhere")

// take takes a place among the open streams of a user.
func (c Config) take(ctx context.Context, user string, req request, lasting time.Duration) (quota.Lease, *refusal) {
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

// comeBack is the answer to a reader who comes back at a bad time: a stream that
// says no more than when to try again. EventSource would give up for good over
// any status but 200.
func (c Config) comeBack(r *refusal) io.Reader {
	wait := min(max(r.fault.RetryAfter, time.Second), comeBackMost)
	wait += time.Duration(c.Random() * float64(wait)) // many may have come at once
	m := eventstream.Message{Retry: wait}
	m.AppendComment(fmt.Sprintf("%d, come back later", r.status))
	return strings.NewReader(m.String())
}

// hold ends the stream once its lease is somebody else's: its reader has come
// back without our having noticed that they left.
func (s *stream) hold(ctx context.Context, end context.CancelCauseFunc) {
	if s.lease.Holder == "" {
		return
	}
	look := time.NewTicker(s.Check)
	defer look.Stop()
	for {
		select {
		case <-look.C:
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

// giveBack gives the lease back: for a while kept for the reader, where they can
// be expected to come back and know all that the stream should have told first.
func (c Config) giveBack(ctx context.Context, lease quota.Lease, expected bool) {
	if lease.Holder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	if err := c.Streams.EndStream(ctx, lease, expected); err != nil {
		c.Log.WarnContext(ctx, "the place of a stream is taken until its lease is out", "error", err)
	}
}

// release gives the lease back for the reason that the stream ends for.
func (s *stream) release(ctx context.Context, why error) {
	var ended *subscription.EndedError
	switch {
	case errors.Is(why, errReplaced): // it is another's
	case errors.Is(why, order.ErrDeleted), errors.Is(why, errToken), errors.As(why, &ended):
		s.giveBack(ctx, s.lease, false)
	default:
		s.giveBack(ctx, s.lease, s.order.CaughtUp())
	}
}
