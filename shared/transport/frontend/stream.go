package frontend

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Converter converts the events of a run, while they grow, to those of a protocol.
type Converter[E any] interface {
	// Update returns what brings the reader to the run's events. It returns
	// conversation.ErrOlder, and changes nothing, if it needs the whole history before them.
	Update(own []session.Event) ([]E, error)
	// Before replaces the history before the run's output.
	Before(h conversation.History)
}

// Update returns what brings a reader to a run's events, for which it may read the rest of
// the history.
func Update[E any](ctx context.Context, s *Server, b *Begun, c Converter[E], own []session.Event) ([]E, error) {
	out, err := c.Update(own)
	if !errors.Is(err, conversation.ErrOlder) {
		return out, err
	}
	if err := s.WholeFor(ctx, b, c, own); err != nil {
		return nil, err
	}
	return c.Update(own)
}

// WholeFor gives a converter the whole history before a run's output.
func (s *Server) WholeFor(ctx context.Context, b *Begun, c interface{ Before(conversation.History) }, own []session.Event) error {
	err := s.Whole(ctx, b)
	if err == nil {
		c.Before(b.Before.With(own))
	}
	return err
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
