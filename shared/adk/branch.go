package adk

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/platform"
	adk "google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/shared/domain/session"
)

// RewindRequest asks to restore a session as it was just before an invocation.
type RewindRequest struct {
	AppName, UserID, SessionID string
	// BeforeInvocationID names the first invocation that goes.
	BeforeInvocationID string
	// Scopes whose state comes back; nil is session, user and app.
	Scopes []session.Scope
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
// log. fault.NotFound for an invocation that the log does not know,
// fault.Conflict while a run is in progress.
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
	done, err := s.backend.Rewind(ctx, session.Rewind{
		SessionID: req.SessionID, UserID: req.UserID, Before: req.BeforeInvocationID,
		Scopes: req.Scopes, Restore: req.Restore, CancelRun: req.CancelRun, Nonce: platform.NewUUID(ctx),
	})
	if err != nil {
		return fail(err)
	}
	out := &RewindResponse{Artifacts: map[string]int64{}}
	if out.State, err = plainValues(session.Values(done.State)); err != nil {
		return fail(err)
	}
	for name, version := range done.Artifacts {
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
	f := session.ForkOf{
		SessionID: req.SessionID, UserID: req.UserID, ID: platform.NewUUID(ctx), Nonce: platform.NewUUID(ctx),
		Strict: !req.Lenient,
	}
	if req.BeforeInvocationID != "" {
		f.Before = &req.BeforeInvocationID
	}
	if req.Name != "" {
		f.Name = &req.Name
	}
	forked, err := s.backend.Fork(ctx, f)
	if err != nil {
		return fail(err)
	}
	h, err := s.get(ctx, &adk.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: forked.ID})
	if err != nil {
		return fail(err)
	}
	return &ForkResponse{Session: h, BoundaryFound: forked.Fork != nil && forked.Fork.BoundaryFound}, nil
}
