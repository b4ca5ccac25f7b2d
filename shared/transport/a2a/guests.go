package a2a

import (
	"context"
	"errors"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// enter reads a context's session, of the caller or shared with the caller, for
// something that the caller may do with it. Its UserID says whose it is.
func (h *handler) enter(ctx context.Context, id string, a access.Action) (s session.Session, err error) {
	err = h.gate.Do(ctx, h.guest(ctx), id, a, func(p access.Permission) error {
		var err error
		s, err = h.Sessions.Get(ctx, p.Owner, id)
		return err
	})
	return s, err
}

// stillGuest says why the caller may not go on with a task in a session of
// somebody else.
func (h *handler) stillGuest(ctx context.Context, link task.Link, a access.Action) error {
	pass, err := h.gate.Permission(ctx, h.guest(ctx), link.SessionID, a)
	switch {
	case err == nil && pass.Owner == link.UserID:
		return nil
	case err == nil, errors.Is(err, fault.Of(fault.NotFound)): // the session is another
		return lib.ErrTaskNotFound
	}
	return ofContext(err)
}

// stillHears says why a stream must not tell what was just read: a guest's right
// may have ended since the stream began.
func (h *handler) stillHears(ctx context.Context, link task.Link) error {
	if link.UserID == callerOf(ctx).user {
		return nil
	}
	return h.stillGuest(ctx, link, access.Watch)
}

// open leaves out tasks in sessions that the caller may not read any more.
func (h *handler) open(ctx context.Context, links []task.Link) ([]task.Link, error) {
	open := map[string]bool{}
	out := links[:0]
	for _, l := range links {
		may, known := open[l.SessionID]
		switch {
		case l.UserID == callerOf(ctx).user:
			may = true
		case !known:
			err := h.stillGuest(ctx, l, access.ReadTasks)
			if err != nil && !errors.Is(err, lib.ErrTaskNotFound) && !errors.Is(err, lib.ErrUnauthorized) {
				return nil, err
			}
			may = err == nil
			open[l.SessionID] = may
		}
		if may {
			out = append(out, l)
		}
	}
	return out, nil
}

// refusedGuest is what a guest is told who asks for what only owners may.
func refusedGuest(what string) error {
	return lib.NewError(lib.ErrUnauthorized, "the context belongs to somebody else: only its owner can "+what)
}
