package session

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
)

// Rewind is a request to restore a session as it was just before the first entry of
// its log with an invocation id. Hidden entries and the markers of earlier rewinds
// count: a rewind before a marker undoes it.
type Rewind struct {
	SessionID string
	UserID    string
	Before    string // invocation id
	// AtSeq is the position right before which the invocation must begin, if the caller
	// named that position instead of the invocation.
	AtSeq *int64
	// Start, of a discard, is the seq of its run's input if the log had the run's
	// invocation before: the discard cuts there. 0 for any other rewind.
	Start  int64
	Scopes []Scope // whose state is restored; nil for all
	// Restore also restores shared values that another session has changed since;
	// otherwise they are kept and reported as conflicts.
	Restore bool
	DryRun  bool // report what would change, and change nothing
	// CancelRun ends a run in progress, which is a conflict otherwise.
	CancelRun bool
	// ExpectedSeq is the head of the log that the caller has seen, so that the rewind
	// hides nothing that came since; nil accepts any head.
	ExpectedSeq *int64
	// KeepApp leaves the state of the app as it is, and reports what would have changed as
	// conflicts.
	KeepApp bool
	// CreatedBy is the marker's member of that name; nil for none.
	CreatedBy json.RawMessage
	// Nonce becomes the marker's invocation id, by which a rewind whose answer was
	// lost is recognised.
	Nonce string
}

// Has reports whether the rewind restores a scope.
func (r Rewind) Has(s Scope) bool { return r.Scopes == nil || slices.Contains(r.Scopes, s) }

// CheckBoundary refuses a position within an invocation: rewinds and forks go back to
// before whole invocations. begins is the position of the invocation's first entry.
func CheckBoundary(at *int64, invocation string, begins int64) error {
	if at == nil || begins == *at+1 {
		return nil
	}
	return fault.Field(fault.InvocationNotFound, "/at_seq", "must be a position where an invocation ends, not within %q", invocation)
}

// ParseScope parses the name of a scope that can be rewound.
func ParseScope(name string) (Scope, error) {
	switch name {
	case "session":
		return ScopeSession, nil
	case "user":
		return ScopeUser, nil
	case "app":
		return ScopeApp, nil
	}
	return 0, fault.New(fault.Invalid, "%q is no scope: use session, user or app", name)
}

// Rewound is what a rewind did, or would do.
type Rewound struct {
	Event     Event // the marker
	Session   Session
	State     Delta            // the restored state, by prefixed key; null is a deleted key
	Artifacts map[string]int64 // the new version of each restored artifact
	Conflicts []Conflict
}

// Conflict is a shared key, with its prefix, that was not restored.
type Conflict struct {
	Key    string `json:"key"`
	Reason Reason `json:"reason"`
}

// Reason is why a key was not restored.
type Reason string

// The reasons of conflicts.
const (
	ChangedSince Reason = "changed_since" // by another session
	NotPermitted Reason = "not_permitted" // the caller may not change the state of the app
)

// ForkOf is a request for a new session that begins with what another one shows, up
// to but not including the first entry with an invocation id.
type ForkOf struct {
	SessionID string
	UserID    string
	ID        string  // of the new session
	Nonce     string  // as in New
	KeyedBy   string  // as in New
	Before    *string // invocation id; nil forks everything
	AtSeq     *int64  // as in Rewind
	Name      *string // nil is "Fork of " and the name of the source
	DryRun    bool
	Strict    bool // a missing boundary is an error
}

// Branch is a session in the tree of its forks.
type Branch struct {
	ID                       string   `json:"id"`
	Name                     string   `json:"name"`
	Deleted                  bool     `json:"deleted"`
	RewindBeforeInvocationID *string  `json:"rewind_before_invocation_id"`
	BoundaryFound            bool     `json:"boundary_found"`
	ForkedAtSeq              int64    `json:"forked_at_seq"` // how many events it took over
	CreatedTime              int64    `json:"created_time"`
	Children                 []Branch `json:"children"`
}

// Rewinder rewinds and forks sessions. Both take one transaction of bounded size,
// whatever the length of the history.
type Rewinder interface {
	// Rewind returns fault.NotFound for an unknown invocation and fault.Invalid if
	// it would restore more artifacts than fit into one transaction.
	Rewind(ctx context.Context, r Rewind) (Rewound, error)
	// Fork returns fault.Malformed for a missing boundary with Strict, and
	// fault.Conflict if the id is taken.
	Fork(ctx context.Context, f ForkOf) (Session, error)
	// Forks returns the tree that a session belongs to, from its root, page by page.
	Forks(ctx context.Context, q TreeQuery) (TreePage, error)
}

// TreeQuery selects a part of the tree of a session's forks.
type TreeQuery struct {
	UserID    string
	SessionID string
	Limit     int    // sessions of a page; 0 for all
	After     string // TreePage.Next of the page before
	Alone     bool   // only the session itself, without its forks
}

// TreePage is a page of a tree, each session after its source. The sources of a page's first
// session are repeated, so that Root is always a tree.
type TreePage struct {
	Root Branch
	Next string // "" at the end
}

// artifactMark begins the state key for the version of an artifact that belongs to
// the conversation. Callers cannot use it: their keys contain no control
// characters.
const artifactMark = "\x00"

// ArtifactKey returns the state key for an artifact's version. The versions that
// events name are state like any other, so they are restored like any other. The
// names of artifacts that a user's sessions share begin with "user:".
func ArtifactKey(name string) string {
	scope, rest := ScopeOf(name)
	if scope != ScopeUser {
		return artifactMark + name
	}
	return scope.Prefix() + artifactMark + rest
}

// ArtifactOf returns the name of the artifact that a state key represents.
func ArtifactOf(key string) (name string, ok bool) {
	scope, rest := ScopeOf(key)
	if rest == "" || rest[:1] != artifactMark {
		return "", false
	}
	return scope.Prefix() + rest[1:], true
}

// Change returns all changes of an event: state and the versions of artifacts.
func (e Event) Change() Delta {
	out := make(Delta, len(e.StateDelta)+len(e.ArtifactDelta))
	for key, v := range e.StateDelta {
		out[key] = v
	}
	for name, version := range e.ArtifactDelta {
		out[ArtifactKey(name)] = json.RawMessage(strconv.FormatInt(version, 10))
	}
	return out
}
