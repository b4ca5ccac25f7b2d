package access

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
)

// Location is the session that contains an object, and the session's owner.
type Found struct{ Owner, SessionID string }

// FindTask finds a task by an id that does not name its session: among the caller's
// own tasks, then among those of the owners who share sessions with the caller.
// find locates the task among one user's, or returns fault.NotFound. FindTask
// returns fault.NotFound if the caller may not read the session either, and
// fault.Forbidden if the caller may read it but lacks the right that the action
// needs.
func (g *Gate) FindTask(ctx context.Context, c Caller, a Action, look func(userID string) (Found, error)) (Permission, Found, error) {
	permission, found, err := g.lookAt(ctx, c, a, c.UserID, look)
	if !errors.Is(err, fault.Of(fault.NotFound)) {
		return permission, found, err
	}
	owners, failed := g.grants.SharingOwners(ctx, c.UserID)
	if failed != nil {
		return Permission{}, Found{}, failed
	}
	for _, lender := range owners {
		permission, found, err := g.lookAt(ctx, c, a, lender, look)
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			return permission, found, err
		}
	}
	return Permission{}, Found{}, err
}

// findFor finds a task among one user's.
func (g *Gate) lookAt(
	ctx context.Context, c Caller, a Action, userID string, look func(userID string) (Found, error),
) (Permission, Found, error) {
	found, err := look(userID)
	if err != nil {
		return Permission{}, Found{}, err
	}
	if found.Owner == c.UserID {
		return owns(c.UserID), found, nil
	}
	grants, err := g.grants.CallerGrants(ctx, c.UserID, found.SessionID)
	if err != nil {
		return Permission{}, Found{}, err
	}
	if _, err := Decide(c, grants, ReadTasks, g.now().UnixMilli()); err != nil || grants.Owner != found.Owner {
		return Permission{}, Found{}, fault.Missing("Task")
	}
	permission, err := g.decide(ctx, c, grants, found.SessionID, a)
	if err != nil {
		return Permission{}, Found{}, err
	}
	return permission, found, nil
}
