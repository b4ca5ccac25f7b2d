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
	// Standing is how a user stands to a session now, read consistently: a share
	// that was revoked before the call is not in it. fault.NotFound without a
	// session.
	Standing(ctx context.Context, userID, sessionID string) (Standing, error)
	// Lenders are the owners of the sessions that a user was let into, each once;
	// MaxLenders of them where there are more. Some of these sessions may be closed
	// to the user by now.
	Lenders(ctx context.Context, userID string) ([]string, error)
}

// Evictor ends what a share has opened.
type Evictor interface {
	// Evict removes everybody whom a share let in from those who hear of a log:
	// once it has returned they are told of nothing that comes after, but that
	// their right is over. It may be repeated.
	Evict(ctx context.Context, log, shareID string) error
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

// Pass says as whom a caller does something with a session, and as how much of
// a stranger. It returns fault.NotFound where there is no session and
// fault.Forbidden for a caller whose right does not reach.
func (g *Gate) Pass(ctx context.Context, c Caller, sessionID string, a Action) (Pass, error) {
	standing, err := g.grants.Standing(ctx, c.UserID, sessionID)
	if err != nil {
		return Pass{}, err
	}
	return g.decide(ctx, c, standing, sessionID, a)
}

func (g *Gate) decide(ctx context.Context, c Caller, s Standing, sessionID string, a Action) (Pass, error) {
	pass, err := Decide(c, s, a, g.now().UnixMilli())
	pass.Log = s.Log
	if err == nil && pass.Label() == AdminLabel {
		g.log.LogAttrs(ctx, slog.LevelInfo, "an admin reads what is not theirs",
			logs.Person("admin_id", c.UserID), logs.Person("owner_id", pass.Owner),
			slog.String(logs.SessionID, sessionID), slog.String("action", string(a)))
	}
	return pass, err
}

// Do does something with a session as its owner: at first as the caller's own
// and, where the session turns out to be somebody else's, once more with the
// pass that the caller has. So owners pay nothing for there being guests. What
// is done must be refused with fault.Forbidden before it changes anything.
func (g *Gate) Do(ctx context.Context, c Caller, sessionID string, a Action, do func(Pass) error) error {
	err := do(owns(c.UserID))
	if !errors.Is(err, fault.Of(fault.Forbidden)) {
		return err
	}
	pass, refused := g.Pass(ctx, c, sessionID, a)
	switch {
	case errors.Is(refused, fault.Of(fault.NotFound)): // deleted meanwhile, or another session was meant
		return err
	case refused != nil:
		return refused
	case pass.Right == Own: // what was refused is something else
		return err
	}
	return do(pass)
}
