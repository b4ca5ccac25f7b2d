package a2a

import (
	"context"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/follow"
)

func (h *handler) target(ctx context.Context, link task.Link) follow.Target {
	return follow.Target{
		UserID: link.UserID, SessionID: link.SessionID, Runs: link.Runs, After: link.After, Caller: access.CallerOf(ctx),
		Recheck: func(ctx context.Context) error { return h.recheck(ctx, link, access.Watch) },
	}
}

// follow calls each with the events of a task whenever they have changed, until
// its run is over or each returns false.
func (h *handler) follow(ctx context.Context, link task.Link, each func([]session.Event) bool) error {
	return h.Follower().Run(ctx, h.target(ctx, link), each)
}

// awaitReply waits until a task that needs input is continued or cancelled, and
// returns its current link.
func (h *handler) awaitReply(ctx context.Context, link task.Link) (task.Link, error) {
	next := link
	err := h.Follower().Until(ctx, h.target(ctx, link), func(ctx context.Context) (bool, error) {
		var err error
		next, err = h.Links.Link(ctx, link.UserID, link.TaskID)
		return len(next.Runs) > len(link.Runs) || next.CancelledTime != 0, err
	})
	return next, err
}
