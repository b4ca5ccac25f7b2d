package sse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	eventstream "github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/sse/order"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

const (
	// reconnectTime is what browsers are told to wait before they come back.
	reconnectTime = time.Second
	// maxRetries is how often a websocket that broke is opened anew before the
	// stream ends, so that the client comes back by itself.
	maxRetries = 4
	// farewellTime is how long a stream whose token has ended may take to say so.
	farewellTime = time.Second
	// lastTime is how long a stream may take at its end to bring the message that
	// it is at.
	lastTime = 5 * time.Second
)

var (
	errMissing = errors.New("what is missing does not come")
	errEnd     = errors.New("the stream's time is up")
	errToken   = errors.New("the token has ended")
)

// body is a stream as Lambda reads it. Close ends it and all that it started.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close implements io.Closer. It returns when nothing of the stream runs.
func (b *body) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}

// stream passes on what a source brings.
type stream struct {
	Config
	request
	order *order.Order
	lease quota.Lease
	out   io.Writer

	gaps   int // in a row
	passed int // messages, when the newest of them was found
}

// start runs a stream that ends by itself after a time.
func (c Config) start(ctx context.Context, at end, req request, lease quota.Lease, from *subscription.Subscription) *body {
	ctx, cancel := context.WithTimeoutCause(ctx, at.after, at.cause)
	ctx, replace := context.WithCancelCause(ctx)
	reader, writer := io.Pipe()
	b := &body{PipeReader: reader, cancel: cancel, done: make(chan struct{})}
	s := &stream{Config: c, request: req, lease: lease, out: writer}
	s.order = order.New(s.event, time.Now)
	if req.resumed {
		s.order.Resume(*req.from.Cursor, lease.Continued)
	}
	// A client that does not read must not keep the stream from ending.
	stop := context.AfterFunc(ctx, func() {
		wait := lastTime
		if errors.Is(context.Cause(ctx), errToken) {
			wait = farewellTime
		}
		time.AfterFunc(wait, func() { _ = writer.Close() }) // never fails
	})
	go func() {
		defer close(b.done)
		defer cancel()
		defer writer.Close() //nolint:errcheck // never fails
		defer stop()
		var holding sync.WaitGroup
		holding.Go(func() { s.hold(ctx, replace) })
		why := s.run(ctx, from)
		replace(why)
		holding.Wait()
		s.release(ctx, why) // before the reader learns of the end, and comes back
	}()
	return b
}

// run passes on what sources bring, one after the other, until nothing more
// can come. However it ends, the stream ends in order: the client knows where
// to go on.
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
	s.sayFarewell(ctx, err)
	s.Log.DebugContext(ctx, "the stream ended", "reason", err)
	return err
}

// sayFarewell tells why nothing more may be told, if that is why the stream ends:
// whoever comes back gets that as the answer.
func (s *stream) sayFarewell(ctx context.Context, why error) {
	var ended *subscription.EndedError
	switch {
	case errors.Is(why, errToken):
		ended = &subscription.EndedError{UnsubscribedNotice: watch.NewUnsubscribedNotice(s.sessionID, watch.ReasonToken)}
	case !errors.As(why, &ended):
		return
	}
	if err := s.event(string(ended.Type), ended.Frame()); err != nil {
		s.Log.DebugContext(ctx, "nobody hears why the stream ends", "error", err)
	}
}

// reopen subscribes again, from where the stream has come to.
func (s *stream) reopen(ctx context.Context) (*subscription.Subscription, error) {
	from := s.from
	if at, ok := s.order.Cursor(); ok {
		from = watch.From{Cursor: &at}
	}
	for try := range maxRetries {
		if err := sleep.Retry(ctx, 2*s.Retry, s.Retry<<maxRetries, try); err != nil {
			return nil, err
		}
		source, why := s.subscribe(ctx, s.request, from)
		if why == nil {
			return source, nil
		}
		if why.final() {
			return nil, s.refused(why)
		}
		s.Log.InfoContext(ctx, "the websocket cannot be opened anew", "try", try+1, "detail", why.fault.Detail, "error", why.cause)
	}
	return nil, errors.New("the WebSocket API is out of reach")
}

// refused is the end of a stream whose caller may watch no longer, or that has
// nothing left to watch.
func (s *stream) refused(r *refusal) error {
	switch r.status {
	case http.StatusUnauthorized:
		return &subscription.EndedError{UnsubscribedNotice: watch.NewUnsubscribedNotice(s.sessionID, watch.ReasonToken)}
	case http.StatusForbidden:
		return &subscription.EndedError{UnsubscribedNotice: watch.NewUnsubscribedNotice(s.sessionID, watch.ReasonRevoked)}
	}
	return errors.New(r.fault.Detail)
}
