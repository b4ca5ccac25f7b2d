package access

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/observe/logs"
)

// Grants reads who has access to which session.
type Grants interface {
	// CallerGrants returns a user's grants in a session, read consistently: a share
	// that was revoked before the call is not included. It returns fault.NotFound
	// without a session.
	CallerGrants(ctx context.Context, userID, sessionID string) (CallerGrants, error)
	// IsShared reports whether a share of a log still gives its right, read consistently.
	IsShared(ctx context.Context, log, shareID string) (bool, error)
	// Fence makes what the request of a context still writes into a log depend on a
	// share: once the share is removed, none of it is written.
	Fence(ctx context.Context, log, shareID string)
	// SharingOwners returns the owners of the sessions that a user was let into,
	// without duplicates and at most MaxSharingOwners. The user may have lost
	// access to some of these sessions.
	SharingOwners(ctx context.Context, userID string) ([]string, error)
}

// Gate authorises callers. All transports use it, with the same actions.
type Gate struct {
	grants Grants
	now    func() time.Time
	log    *slog.Logger
}

// NewGate returns a gate. It logs when an admin reads another user's session.
func NewGate(grants Grants, now func() time.Time, log *slog.Logger) *Gate {
	return &Gate{grants: grants, now: now, log: log}
}

// Permission returns what a caller may do with a session, for an action. It returns
// fault.NotFound if the session does not exist and fault.Forbidden if the caller
// lacks the right.
func (g *Gate) Permission(ctx context.Context, c Caller, sessionID string, a Action) (Permission, error) {
	grants, err := g.grants.CallerGrants(ctx, c.UserID, sessionID)
	if err != nil {
		return Permission{}, err
	}
	return g.decide(ctx, c, grants, sessionID, a)
}

func (g *Gate) decide(ctx context.Context, c Caller, s CallerGrants, sessionID string, a Action) (Permission, error) {
	permission, err := Decide(c, s, a, g.now().UnixMilli())
	permission.Log = s.Log
	if err == nil && permission.Guest() && a.Right() == Write {
		g.grants.Fence(ctx, permission.Log, permission.Share)
	}
	if err == nil && permission.Label() == AdminLabel {
		g.log.LogAttrs(ctx, slog.LevelInfo, "an admin reads what is not theirs",
			logs.Person("admin_id", c.UserID), logs.Person("owner_id", permission.Owner),
			slog.String(logs.SessionID, sessionID), slog.String("action", string(a)))
	}
	return permission, err
}

// Still returns the fault of a guest whose permission has ended since it was given, by a
// read of its share alone; another share may give the right too. It reads nothing for others.
func (g *Gate) Still(ctx context.Context, c Caller, sessionID string, a Action, given Permission) error {
	if !given.Guest() {
		return nil
	}
	if shared, err := g.grants.IsShared(ctx, given.Log, given.Share); shared || err != nil {
		return err
	}
	now, err := g.Permission(ctx, c, sessionID, a)
	if err == nil && now.Log != given.Log { // another session has the id now
		return fault.Missing("Session")
	}
	return err
}

// Do calls do with the permission of an owner: first as if the session were the
// caller's own and, if it is another user's, once more with the caller's
// permission. Sharing therefore costs owners nothing. The first call must return
// fault.Forbidden before it changes anything.
//
// A guest who reads has the permission at the end too: once the end of a share is
// answered, nobody gets by it what was written later. A guest's writes depend on the
// share themselves (Grants.Fence).
func (g *Gate) Do(ctx context.Context, c Caller, sessionID string, a Action, do func(Permission) error) error {
	err := do(ownerPermission(c))
	if !errors.Is(err, fault.Of(fault.Forbidden)) {
		return err
	}
	permission, refused := g.Permission(ctx, c, sessionID, a)
	switch {
	case errors.Is(refused, fault.Of(fault.NotFound)): // deleted concurrently, or another session was meant
		return err
	case refused != nil:
		return refused
	case permission.Right == OwnerOnly: // something else was refused
		return err
	}
	if err := do(permission); err != nil || a.Right() != Read {
		return err
	}
	return g.Still(ctx, c, sessionID, a, permission)
}
