package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	eventstream "github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

const (
	// reconnectTime is the wait before a browser reconnects.
	reconnectTime = time.Second
	// maxRetries bounds the tries to reopen a websocket before the stream ends,
	// so that the client reconnects.
	maxRetries = 4
	// tokenEndTime bounds the notice that the token has expired.
	tokenEndTime = time.Second
	// drainTime bounds the message that is being written when the stream ends.
	drainTime = 5 * time.Second
)

var (
	errMissing     = errors.New("a missing message was not delivered")
	errUnreachable = fmt.Errorf("the WebSocket API cannot be reached: %w", retry.ErrAgain)
	errEnd         = errors.New("the stream's time is up")
	errToken       = errors.New("the token has expired")
)

// body is a stream as Lambda reads it. Close ends it and everything that it
// started.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close implements io.Closer. It returns when no goroutine of the stream is
// running.
func (b *body) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}

// stream forwards the messages of a source as events.
type stream struct {
	Config
	request
	order *order.Order
	lease quota.Lease
	out   io.Writer

	gaps      int // in a row
	forwarded int // messages forwarded before the last gap
}

// start runs a stream until at.
func (c Config) start(ctx context.Context, at end, req request, lease quota.Lease, from *subscription.Subscription) *body {
	ctx, cancel := context.WithTimeoutCause(ctx, at.after, at.cause)
	ctx, replace := context.WithCancelCause(ctx)
	reader, writer := io.Pipe()
	b := &body{PipeReader: reader, cancel: cancel, done: make(chan struct{})}
	s := &stream{Config: c, request: req, lease: lease, out: writer}
	s.order = order.New(s.event, time.Now)
	switch at := req.from.Cursor; {
	case req.resumed:
		s.order.Resume(*at, lease.Continued)
	case at != nil:
		s.order.Begin(*at)
	}
	// A client that stops reading must not keep the stream from ending.
	stop := context.AfterFunc(ctx, func() {
		wait := drainTime
		if errors.Is(context.Cause(ctx), errToken) {
			wait = tokenEndTime
		}
		time.AfterFunc(wait, func() { _ = writer.Close() }) // never fails
	})
	go func() {
		defer close(b.done)
		defer cancel()
		defer writer.Close() //nolint:errcheck // never fails
		defer stop()
		var watching sync.WaitGroup
		watching.Go(func() { s.watchLease(ctx, replace) })
		why := s.run(ctx, from)
		replace(why)
		watching.Wait()
		s.release(ctx, why) // before the reader sees the end and reconnects
	}()
	return b
}

// run forwards the messages of one source after the other until none may
// continue. Whatever the reason, the stream ends between two events, so the
// client knows where to continue.
func (s *stream) run(ctx context.Context, from *subscription.Subscription) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.Log.ErrorContext(ctx, "panic", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	err = s.write(&eventstream.Message{Retry: reconnectTime})
	for err == nil {
		s.order.Subscribed()
		err = s.forward(ctx, from)
		from.Close()
		if err == nil {
			from, err = s.reopen(ctx)
		}
	}
	if from != nil {
		from.Close()
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	s.sendUnsubscribed(ctx, err)
	s.Log.DebugContext(ctx, "the stream ended", "reason", err)
	return err
}

// sendUnsubscribed sends the notice that the caller may not watch any longer,
// if that is why the stream ends: a reconnect gets the same answer.
func (s *stream) sendUnsubscribed(ctx context.Context, why error) {
	var ended *subscription.EndedError
	switch {
	case errors.Is(why, errToken):
		ended = &subscription.EndedError{UnsubscribedNotice: watch.NewUnsubscribedNotice(s.sessionID, watch.ReasonToken)}
	case !errors.As(why, &ended):
		return
	}
	if err := s.event(string(ended.Type), ended.Frame()); err != nil {
		s.Log.DebugContext(ctx, "the notice of the stream's end was not delivered", "error", err)
	}
}

// reopen subscribes again from the stream's position. The first try waits, too,
// because a failure of the gateway disconnects many streams at once.
func (s *stream) reopen(ctx context.Context) (source *subscription.Subscription, err error) {
	from := s.from
	if at, ok := s.order.Cursor(); ok {
		from = watch.From{Cursor: &at}
	}
	if err := retry.Sleep(ctx, retry.Jitter(2*s.Retry)); err != nil {
		return nil, err
	}
	policy := retry.Policy{First: 4 * s.Retry, Max: s.Retry << maxRetries, Tries: maxRetries}
	err = retry.Do(ctx, policy, nil, func() error {
		var why *refusal
		source, why = s.subscribe(ctx, s.request, from)
		switch {
		case why == nil:
			return nil
		case why.final():
			return s.refused(why)
		}
		s.Log.InfoContext(ctx, "the websocket cannot be reopened", "detail", why.fault.Detail, "error", why.cause)
		return errUnreachable
	})
	return source, err
}

// refused turns a final refusal into the stream's end: the caller may watch no
// longer, or the session no longer exists.
func (s *stream) refused(r *refusal) error {
	switch r.status {
	case http.StatusUnauthorized:
		return &subscription.EndedError{UnsubscribedNotice: watch.NewUnsubscribedNotice(s.sessionID, watch.ReasonToken)}
	case http.StatusForbidden:
		return &subscription.EndedError{UnsubscribedNotice: watch.NewUnsubscribedNotice(s.sessionID, watch.ReasonRevoked)}
	}
	return errors.New(r.fault.Detail)
}
