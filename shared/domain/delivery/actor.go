package delivery

import (
	"context"
	"errors"
	"log/slog"
)

var (
	// ErrNotYet says that a delivery cannot be done now but may be done later.
	ErrNotYet = errors.New("something is in the way")
	// ErrNever says that a delivery cannot be done, however often it is tried.
	ErrNever = errors.New("it cannot be done")
)

// Actor carries out the deliveries of one kind itself, where a MessageBuilder
// builds messages.
type Actor interface {
	// Act carries out a delivery; a repeat changes nothing more. It returns
	// ErrNothing if there is nothing left to do, ErrGone if there never will be,
	// ErrNotYet or ErrNever. Any other error is unexpected, and the delivery is
	// tried again.
	Act(ctx context.Context, d Delivery) error
}

// act passes a delivery to an actor.
func (w *Worker) act(ctx context.Context, log *slog.Logger, actor Actor, d Delivery, try Try) Result {
	err := actor.Act(ctx, d)
	switch {
	case err == nil:
		log.DebugContext(ctx, "done")
		return Result{}
	case errors.Is(err, ErrNothing):
		log.InfoContext(ctx, "nothing is left to do", "reason", err.Error())
		return nothing(err)
	case errors.Is(err, ErrNever):
		return w.abandon(ctx, log, err.Error())
	case errors.Is(err, ErrNotYet):
		return w.later(ctx, log, try, 0, err.Error())
	default:
		log.ErrorContext(ctx, "a delivery failed", "error", err)
		return w.later(ctx, log, try, 0, "it cannot be done now")
	}
}
