package frontend

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Converter converts the events of a run, while they grow, to those of a protocol. Update
// and Finish return conversation.ErrOlder, and change nothing, if they need the whole
// history before the run's output.
type Converter[E any] interface {
	// Update returns what brings the reader to the run's events.
	Update(own []session.Event) ([]E, error)
	// Finish returns what ends the stream of a run that is over.
	Finish(r run.Run) ([]E, error)
	// Before replaces the history before the run's output.
	Before(h conversation.History)
}

// Protocol is how a protocol streams one run.
type Protocol[E any] struct {
	Send func([]E)
	// Begin sends what comes before the run's output, and returns its converter. own are the
	// run's first events.
	Begin func(ctx context.Context, own []session.Event) (Converter[E], error)
	// Discarded is the end of a run whose events were taken away before any was read.
	Discarded func(run.Run) E
	// Fail sends why the stream ends before its run, as Failure says it.
	Fail func(f *fault.Error, broken bool)
}

// Stream streams a run to its end, or until the reader has left.
func Stream[E any](ctx context.Context, s *Server, b *Begun, left func() bool, p Protocol[E]) {
	var c Converter[E]
	var own []session.Event
	send := func(next func() ([]E, error)) error {
		events, err := next()
		if errors.Is(err, conversation.ErrOlder) {
			if err = s.Whole(ctx, b); err == nil {
				c.Before(b.Before.With(own))
				events, err = next()
			}
		}
		p.Send(events)
		return err
	}
	r, err := s.Follow(ctx, b, left, func(ctx context.Context, now []session.Event) (err error) {
		if own = now; c == nil {
			if c, err = p.Begin(ctx, own); err != nil {
				return err
			}
		}
		return send(func() ([]E, error) { return c.Update(own) })
	})
	switch {
	case err != nil, r.ID == "": // failed, or the reader has left
	case c == nil:
		p.Send([]E{p.Discarded(r)})
	default:
		err = send(func() ([]E, error) { return c.Finish(r) })
	}
	if err != nil {
		p.Fail(s.Failure(ctx, err))
	}
}

// Failure returns the fault that ends a stream before its run, as of a reader who has lost
// access. It is nil if the reader may come back: when the time is up or another stream has
// the slot, and, with broken, after an error, which it logs.
func (s *Server) Failure(ctx context.Context, err error) (f *fault.Error, broken bool) {
	switch {
	case ctx.Err() != nil:
		return nil, false
	case errors.As(err, &f) && f.Kind != 0:
		return f, false
	}
	s.Log.ErrorContext(ctx, "a stream failed", "error", err)
	return nil, true
}
