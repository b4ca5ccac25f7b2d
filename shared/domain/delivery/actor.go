package delivery

import (
	"context"
	"errors"
	"log/slog"
)

var (
	// ErrNotYet says that something is in the way that will pass.
	ErrNotYet = errors.New("something is in the way")
	// ErrNever says that it cannot be done, however often it is tried.
	ErrNever = errors.New("it cannot be done")
)

// Actor does something about the deliveries of one kind itself, where a MessageBuilder
// makes messages.
type Actor interface {
	// Act does it. Done again, it changes nothing more. ErrNothing where there is
	// nothing to do any more, ErrGone where there never will be, ErrNotYet and ErrNever; any other error is one of the
	// moment as well, and nothing that is expected.
	Act(ctx context.Context, d Delivery) error
}

// act brings a delivery to an actor.
func (c *Worker) act(ctx context.Context, log *slog.Logger, actor Actor, d Delivery, try Try) Result {
	err := actor.Act(ctx, d)
	switch {
	case err == nil:
		log.DebugContext(ctx, "done")
		return Result{}
	case errors.Is(err, ErrNothing):
		log.InfoContext(ctx, "nothing to do any more", "reason", err.Error())
		return nothing(err)
	case errors.Is(err, ErrNever):
		return c.giveUp(ctx, log, err.Error())
	case errors.Is(err, ErrNotYet):
		return c.later(ctx, log, try, 0, err.Error())
	default:
		log.ErrorContext(ctx, "it cannot be done now", "error", err)
		return c.later(ctx, log, try, 0, "it cannot be done now")
	}
}
