package adk

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/platform"
	adk "google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

// Scope is a part of state that a rewind restores.
type Scope string

// The scopes of state: keys without a prefix, and those that begin with "user:"
// and "app:".
const (
	ScopeSession Scope = "session"
	ScopeUser    Scope = "user"
	ScopeApp     Scope = "app"
)

// RewindRequest asks to restore a session as it was just before an invocation.
type RewindRequest struct {
	AppName, UserID, SessionID string
	// BeforeInvocationID names the first invocation that goes.
	BeforeInvocationID string
	// Scopes whose state comes back; nil is session, user and app.
	Scopes []Scope
	// Restore brings back shared values that another session has changed
	// since, too; otherwise they are kept and reported as conflicts.
	Restore bool
	// CancelRun ends a run in progress, which is a conflict otherwise.
	CancelRun bool
}

// RewindResponse is what a rewind did.
type RewindResponse struct {
	// Session is the session after the rewind. Those that were read before it
	// are stale.
	Session adk.Session
	// State is what was restored, by prefixed key; nil is a deleted key.
	State map[string]any
	// Artifacts is the version that each restored artifact has now.
	Artifacts map[string]int64
	// Conflicts are shared keys that were kept.
	Conflicts []string
}

// Rewind takes a session back: events, state and artifacts. Nothing leaves the
// log. ErrNotFound for an invocation that the log does not know,
// ErrConflict while a run is in progress.
func (s *SessionService) Rewind(ctx context.Context, req *RewindRequest) (*RewindResponse, error) {
	fail := func(err error) (*RewindResponse, error) {
		return nil, fmt.Errorf("rewind session %s: %w", req.SessionID, err)
	}
	if err := requireBoundary(req.AppName, req.UserID, req.SessionID, req.BeforeInvocationID); err != nil {
		return fail(err)
	}
	if _, err := s.find(ctx, req.AppName, req.UserID, req.SessionID); err != nil {
		return fail(err)
	}
	var scopes []string
	for _, scope := range req.Scopes {
		scopes = append(scopes, string(scope))
	}
	done, err := s.api.Rewind(ctx, remote.Rewind{
		SessionID: req.SessionID, UserID: req.UserID, Before: req.BeforeInvocationID,
		Scopes: scopes, Restore: req.Restore, CancelRun: req.CancelRun, Key: platform.NewUUID(ctx),
	})
	if err != nil {
		return fail(err)
	}
	out := &RewindResponse{Artifacts: map[string]int64{}}
	if out.State, err = plainValues(done.Restored.State); err != nil {
		return fail(err)
	}
	for name, version := range done.Restored.Artifacts {
		out.Artifacts[name] = version + firstVersion
	}
	for _, c := range done.Conflicts {
		out.Conflicts = append(out.Conflicts, c.Key)
	}
	out.Session, err = s.get(ctx, &adk.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	if err != nil {
		return fail(err)
	}
	return out, nil
}

// requireBoundary is requireSession and an invocation.
func requireBoundary(app, user, id, before string) error {
	return required("app name", app, "user id", user, "session id", id, "invocation id", before)
}

// ForkRequest asks for a new session that begins with what another shows.
type ForkRequest struct {
	AppName, UserID, SessionID string
	// BeforeInvocationID names the first invocation that is not taken over;
	// "" takes over everything.
	BeforeInvocationID string
	// Name of the new session; "" is "Fork of " and the name of the other.
	Name string
	// Lenient takes over everything where the invocation is unknown, which is
	// an error otherwise.
	Lenient bool
}

// ForkResponse is a fork.
type ForkResponse struct {
	Session adk.Session
	// BoundaryFound is false where the invocation was unknown.
	BoundaryFound bool
}

// Fork branches a session: the new one has events, state and artifacts as they
// were, and an id of its own. The other stays as it is.
func (s *SessionService) Fork(ctx context.Context, req *ForkRequest) (*ForkResponse, error) {
	fail := func(err error) (*ForkResponse, error) {
		return nil, fmt.Errorf("fork session %s: %w", req.SessionID, err)
	}
	if err := requireSession(req.AppName, req.UserID, req.SessionID); err != nil {
		return fail(err)
	}
	if _, err := s.find(ctx, req.AppName, req.UserID, req.SessionID); err != nil {
		return fail(err)
	}
	forked, err := s.api.Fork(ctx, remote.Fork{
		SessionID: req.SessionID, UserID: req.UserID, Before: req.BeforeInvocationID, Name: req.Name,
		Strict: !req.Lenient, Key: platform.NewUUID(ctx),
	})
	if err != nil {
		return fail(err)
	}
	h, err := s.get(ctx, &adk.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: forked.ID})
	if err != nil {
		return fail(err)
	}
	return &ForkResponse{Session: h, BoundaryFound: forked.Fork != nil && forked.Fork.BoundaryFound}, nil
}
