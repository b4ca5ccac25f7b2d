package access

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/observe/logs"
)

// Grants knows who was let into which session.
type Grants interface {
	// CallerGrants is how a user stands to a session now, read consistently: a share
	// that was revoked before the call is not in it. fault.NotFound without a
	// session.
	CallerGrants(ctx context.Context, userID, sessionID string) (CallerGrants, error)
	// SharingOwners are the owners of the sessions that a user was let into, each once;
	// MaxLenders of them where there are more. Some of these sessions may be closed
	// to the user by now.
	SharingOwners(ctx context.Context, userID string) ([]string, error)
}

// Subscriptions ends what a share has opened.
type Subscriptions interface {
	// EndSubscriptions removes everybody whom a share let in from those who hear of a log:
	// once it has returned they are told of nothing that comes after, but that
	// their right is over. It may be repeated.
	EndSubscriptions(ctx context.Context, log, shareID string) error
}

// Gate says who may pass. The transports ask it, each with the same actions.
type Gate struct {
	grants Grants
	now    func() time.Time
	log    *slog.Logger
}

// NewGate is a gate in front of what grants knows of. The log hears of admins
// who read what is not theirs.
func NewGate(grants Grants, now func() time.Time, log *slog.Logger) *Gate {
	return &Gate{grants: grants, now: now, log: log}
}

// Permission says as whom a caller does something with a session, and as how much of
// a stranger. It returns fault.NotFound where there is no session and
// fault.Forbidden for a caller whose right does not reach.
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
	if err == nil && permission.Label() == AdminLabel {
		g.log.LogAttrs(ctx, slog.LevelInfo, "an admin reads what is not theirs",
			logs.Person("admin_id", c.UserID), logs.Person("owner_id", permission.Owner),
			slog.String(logs.SessionID, sessionID), slog.String("action", string(a)))
	}
	return permission, err
}

// Do does something with a session as its owner: at first as the caller's own
// and, where the session turns out to be somebody else's, once more with the
// pass that the caller has. So owners pay nothing for there being guests. What
// is done must be refused with fault.Forbidden before it changes anything.
func (g *Gate) Do(ctx context.Context, c Caller, sessionID string, a Action, do func(Permission) error) error {
	err := do(owns(c.UserID))
	if !errors.Is(err, fault.Of(fault.Forbidden)) {
		return err
	}
	permission, refused := g.Permission(ctx, c, sessionID, a)
	switch {
	case errors.Is(refused, fault.Of(fault.NotFound)): // deleted meanwhile, or another session was meant
		return err
	case refused != nil:
		return refused
	case permission.Right == Own: // what was refused is something else
		return err
	}
	return do(permission)
}
