package adk

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/platform"
	adk "google.golang.org/adk/v2/session"

	rethread "github.com/rethread/rethread/clients/go"
)

// Scope is a part of the state that a rewind can restore.
type Scope string

// The scopes of state: keys without a prefix, keys that begin with "user:", and
// keys that begin with "app:".
const (
	ScopeSession Scope = "session"
	ScopeUser    Scope = "user"
	ScopeApp     Scope = "app"
)

// RewindRequest asks to restore a session to just before an invocation.
type RewindRequest struct {
	AppName, UserID, SessionID string
	// BeforeInvocationID is the first invocation to undo.
	BeforeInvocationID string
	// Scopes are the scopes whose state is restored; nil means all three.
	Scopes []Scope
	// Restore also restores shared values that another session has changed
	// since; otherwise they are kept and reported as conflicts.
	Restore bool
	// Seen is a copy of the session that this service returned: the rewind fails with
	// ErrStale if the session has changed since, so that it hides nothing that the copy
	// lacks. nil rewinds it as it is.
	Seen adk.Session
	// CancelRun cancels a run in progress; otherwise the rewind fails with
	// ErrConflict.
	CancelRun bool
}

// RewindResponse describes a completed rewind.
type RewindResponse struct {
	// Session is the session after the rewind. Copies read before it are stale.
	Session adk.Session
	// State holds the restored values by prefixed key; nil for a deleted key.
	State map[string]any
	// Artifacts holds the new version number of each restored artifact.
	Artifacts map[string]int64
	// Conflicts are the shared keys, with prefix, that were not restored.
	Conflicts []string
}

// Rewind restores the events, state and artifacts of a session to just before an
// invocation. The log keeps the undone events. It fails with ErrNotFound if the
// session or the invocation is unknown, and with ErrConflict while a run is in
// progress unless CancelRun is set.
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
	request := rethread.RewindRequest{RewindBeforeInvocationID: req.BeforeInvocationID, Scopes: scopes, CancelRun: req.CancelRun}
	if req.Restore {
		request.OnConflict = "restore"
	}
	done, err := s.rewind(ctx, req, request)
	if err != nil {
		return fail(err)
	}
	out := &RewindResponse{State: mapOf(done.Restored.State), Artifacts: map[string]int64{}}
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

// rewind sends a rewind, on condition that the head of the log is the one that the
// caller's copy has read.
func (s *SessionService) rewind(ctx context.Context, req *RewindRequest, request rethread.RewindRequest) (rethread.Rewound, error) {
	send := func() (rethread.Rewound, error) {
		key := rethread.WithIdempotencyKey(platform.NewUUID(ctx))
		return s.users.as(req.UserID).Sessions.Rewind(ctx, req.SessionID, request, key)
	}
	h, ours := req.Seen.(*handle)
	switch {
	case req.Seen == nil:
		return send()
	case !ours || h.id != req.SessionID:
		return rethread.Rewound{}, fmt.Errorf("%w: the copy is not one of the session", ErrMalformed)
	}
	h.appending.Lock()
	defer h.appending.Unlock()
	for {
		request.ExpectedSeq = rethread.Ptr(h.head)
		done, err := send()
		if !isBehind(err) {
			return done, err
		}
		if err := s.catchUp(ctx, h); err != nil {
			return rethread.Rewound{}, err
		}
	}
}

// requireBoundary is requireSession that also requires an invocation.
func requireBoundary(app, user, id, before string) error {
	return required("app name", app, "user id", user, "session id", id, "invocation id", before)
}

// ForkRequest asks for a new session with the history of another.
type ForkRequest struct {
	AppName, UserID, SessionID string
	// BeforeInvocationID is the first invocation that is not part of the fork;
	// "" forks the whole session.
	BeforeInvocationID string
	// Name is the name of the new session; "" means "Fork of " followed by the
	// other session's name.
	Name string
	// Lenient forks the whole session if the invocation is unknown; otherwise
	// that fails with ErrMalformed.
	Lenient bool
}

// ForkResponse describes a new fork.
type ForkResponse struct {
	Session adk.Session
	// BoundaryFound is false if the invocation was unknown.
	BoundaryFound bool
}

// Fork creates a session, with an id chosen by the server, that has the events,
// state and artifacts of another as they were before the boundary. The other
// session does not change.
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
	request := rethread.ForkRequest{RewindBeforeInvocationID: req.BeforeInvocationID, Name: req.Name, Strict: !req.Lenient}
	key := rethread.WithIdempotencyKey(platform.NewUUID(ctx))
	forked, err := s.users.as(req.UserID).Sessions.Fork(ctx, req.SessionID, request, key)
	if err != nil {
		return fail(err)
	}
	h, err := s.get(ctx, &adk.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: forked.ID})
	if err != nil {
		return fail(err)
	}
	return &ForkResponse{Session: h, BoundaryFound: forked.Fork != nil && forked.Fork.BoundaryFound}, nil
}
