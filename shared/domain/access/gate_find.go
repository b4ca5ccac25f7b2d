package access

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
)

// Location is the session that contains an object, and the session's owner.
type Location struct{ Owner, SessionID string }

// FindTask finds a task by an id that does not name its session: among the caller's
// own tasks, then among those of the owners who share sessions with the caller.
// find locates the task among one user's, or returns fault.NotFound. FindTask
// returns fault.NotFound if the caller may not read the session either, and
// fault.Forbidden if the caller may read it but lacks the right that the action
// needs.
func (g *Gate) FindTask(ctx context.Context, c Caller, a Action, find func(userID string) (Location, error)) (Permission, Location, error) {
	permission, found, err := g.findFor(ctx, c, a, c.UserID, find)
	if !errors.Is(err, fault.Of(fault.NotFound)) {
		return permission, found, err
	}
	owners, failed := g.grants.SharingOwners(ctx, c.UserID)
	if failed != nil {
		return Permission{}, Location{}, failed
	}
	for _, owner := range owners {
		permission, found, err := g.findFor(ctx, c, a, owner, find)
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			return permission, found, err
		}
	}
	return Permission{}, Location{}, err
}

// findFor finds a task among one user's.
func (g *Gate) findFor(
	ctx context.Context, c Caller, a Action, userID string, find func(userID string) (Location, error),
) (Permission, Location, error) {
	found, err := find(userID)
	if err != nil {
		return Permission{}, Location{}, err
	}
	if found.Owner == c.UserID {
		return ownerPermission(c), found, nil
	}
	grants, err := g.grants.CallerGrants(ctx, c.UserID, found.SessionID)
	if err != nil {
		return Permission{}, Location{}, err
	}
	if _, err := Decide(c, grants, ReadTasks, g.now().UnixMilli()); err != nil || grants.Owner != found.Owner {
		return Permission{}, Location{}, fault.Missing("Task")
	}
	permission, err := g.decide(ctx, c, grants, found.SessionID, a)
	if err != nil {
		return Permission{}, Location{}, err
	}
	return permission, found, nil
}
