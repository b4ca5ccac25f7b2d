package rethread

import (
	"encoding/json"
	"time"
)

// Time is a time in milliseconds since 1970-01-01T00:00Z.
type Time int64

// Time returns t as a time.Time in UTC.
func (t Time) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Nullable is a value that may be null or absent. Its zero value is absent.
type Nullable[T any] struct {
	value *T
	set   bool
}

// Value returns a Nullable with a value.
func Value[T any](v T) Nullable[T] { return Nullable[T]{&v, true} }

// Null returns a Nullable that is null.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// IsZero reports whether the value is absent.
func (n Nullable[T]) IsZero() bool { return !n.set }

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return encode(n.value) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Nullable[T]) UnmarshalJSON(raw []byte) error {
	n.set, n.value = true, nil
	return json.Unmarshal(raw, &n.value)
}

// Ptr returns a pointer to v, for optional members.
func Ptr[T any](v T) *T { return &v }

// Status is the status of a session.
type Status string

// The statuses of a session.
const (
	Idle       Status = "idle"
	InProgress Status = "in_progress" // a run is active
	Failed     Status = "failed"      // the last run failed
)

// Session is a conversation.
type Session struct {
	ID          string         `json:"id"`
	UserID      string         `json:"user_id"`
	AppName     string         `json:"app_name"`
	Agent       string         `json:"agent"`
	Name        string         `json:"name"`
	Status      Status         `json:"status"`
	ActiveRunID string         `json:"active_run_id"` // "" without an active run
	Metadata    map[string]any `json:"metadata"`
	Fork        *Fork          `json:"fork"`     // nil if it is no fork
	Epoch       int64          `json:"epoch"`    // number of rewinds
	HeadSeq     int64          `json:"head_seq"` // newest position of the log
	CreatedTime Time           `json:"created_time"`
	UpdatedTime Time           `json:"updated_time"`
	// Access is that of the caller to a session that another user shares: read, write
	// or admin.
	Access string `json:"access,omitempty"`
	// Retention is the number of seconds without activity after which the session is
	// deleted, at ExpiresTime; 0 if it is kept.
	Retention   int64 `json:"retention,omitempty"`
	ExpiresTime Time  `json:"expires_time,omitempty"`
}

// ListedSession is a session in a list. Without SessionQuery.Exact, UpdatedTime is when
// it last came to the top of its owner's list, and ExpiresTime the earliest.
type ListedSession struct {
	Session
	HeadSeq *int64 `json:"head_seq"` // nil if the list is not exact
	// Match is the newest message that was searched for with SessionQuery.Messages.
	Match *Match `json:"match,omitempty"`
}

// Match is a message that a search found.
type Match struct {
	EventID      string `json:"event_id"`
	InvocationID string `json:"invocation_id"`
	Seq          int64  `json:"seq"`
	Author       string `json:"author"`
	Text         string `json:"text"` // an excerpt around the first word that was found
}

// Fork is the origin of a forked session.
type Fork struct {
	SessionID                string `json:"session_id"`
	RewindBeforeInvocationID string `json:"rewind_before_invocation_id"` // "" for a fork from the end
	BoundaryFound            bool   `json:"boundary_found"`
}

// SessionRequest describes a new session. All members are optional.
type SessionRequest struct {
	ID       string         `json:"id,omitempty"`
	AppName  string         `json:"app_name,omitempty"`
	Agent    string         `json:"agent,omitempty"`
	Name     string         `json:"name,omitempty"`
	State    map[string]any `json:"state,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"` // up to 16 KB of JSON
	// Retention is the number of seconds without activity after which the session is
	// deleted; null leaves it to the agent.
	Retention Nullable[int64] `json:"retention,omitzero"`
}

// SessionChange replaces the given members.
type SessionChange struct {
	Name      *string         `json:"name,omitempty"`
	Metadata  map[string]any  `json:"metadata,omitzero"`
	Retention Nullable[int64] `json:"retention,omitzero"`
}

// State is the state that results from a session's events, by scope. Merged has all
// values by prefixed key.
type State struct {
	Session map[string]any `json:"session"`
	User    map[string]any `json:"user"`
	App     map[string]any `json:"app"`
	Merged  map[string]any `json:"merged"`
}

// RewindRequest says what to restore.
type RewindRequest struct {
	// Before is the invocation to whose beginning the session goes back; and
	// RewindBeforeInvocationID another name of it. AtSeq is a position where an invocation
	// ends, instead of either.
	Before                   string `json:"before,omitempty"`
	RewindBeforeInvocationID string `json:"rewind_before_invocation_id,omitempty"`
	AtSeq                    *int64 `json:"at_seq,omitempty"`
	// Scopes are those of state and artifacts to restore: session, user and app; none
	// means all.
	Scopes []string `json:"scopes,omitempty"`
	// OnConflict is what to do with shared values that another session has changed
	// since: keep (the default) or restore.
	OnConflict string `json:"on_conflict,omitempty"`
	DryRun     bool   `json:"dry_run,omitempty"` // change nothing
	CancelRun  bool   `json:"cancel_run,omitempty"`
	// ExpectedSeq is the log's newest position that the caller has seen; another one is
	// a conflict.
	ExpectedSeq *int64 `json:"expected_seq,omitempty"`
}

// Rewound is the result of a rewind.
type Rewound struct {
	Event    Event    `json:"event"` // the marker
	Session  Session  `json:"session"`
	Restored Restored `json:"restored"`
	// Conflicts are the shared values that were kept.
	Conflicts []struct {
		Key string `json:"key"`
	} `json:"conflicts"`
}

// Restored holds what a rewind restored: values of the state by prefixed key, null if
// a key was removed, and the versions of artifacts by name.
type Restored struct {
	State     map[string]any   `json:"state"`
	Artifacts map[string]int64 `json:"artifacts"`
}

// ForkRequest says from where a fork continues: from just before an invocation, or
// from the end without one.
type ForkRequest struct {
	Before                   string `json:"before,omitempty"` // as in RewindRequest; all three absent forks everything
	RewindBeforeInvocationID string `json:"rewind_before_invocation_id,omitempty"`
	AtSeq                    *int64 `json:"at_seq,omitempty"`
	Name                     string `json:"name,omitempty"`
	DryRun                   bool   `json:"dry_run,omitempty"` // create nothing
	Strict                   bool   `json:"strict,omitempty"`  // fail if the invocation is not found
}

// Branch is a session in a tree of forks.
type Branch struct {
	ID                       string   `json:"id"`
	Name                     string   `json:"name"`
	Deleted                  bool     `json:"deleted"`
	RewindBeforeInvocationID string   `json:"rewind_before_invocation_id"`
	BoundaryFound            bool     `json:"boundary_found"`
	ForkedAtSeq              int64    `json:"forked_at_seq"`
	CreatedTime              Time     `json:"created_time"`
	Children                 []Branch `json:"children"`
}
