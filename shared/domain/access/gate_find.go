package access

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
)

// Found is a session in which something is, and whose session that is.
type Found struct{ Owner, SessionID string }

// FindTask looks for a task by an id that does not say in which session it is:
// among what is the caller's own and, where it is not there, among what those
// have who let the caller into sessions. look says where a user has it;
// fault.NotFound is for a user who has not. FindTask returns that too where the
// caller may not read the session, and fault.Forbidden where the action takes a
// right that the caller, who may read, has not.
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

// lookAt looks at what one user has.
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
