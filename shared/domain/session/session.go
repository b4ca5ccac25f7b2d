// Package session is the domain of conversations: sessions, the events of their
// logs, the state that events change, and the timeline of the events that a session
// shows. It depends on neither a database nor a transport.
package session

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
)

// Limits of what a caller may set in a session.
const (
	MaxName     = 256       // characters
	MaxMetadata = 16 << 10  // bytes of JSON
	MaxState    = 256 << 10 // bytes of JSON of one scope's whole state
	MaxStateKey = 256       // characters
	DefaultApp  = "default"
)

// Status is the status of a session, that is, of its thread.
type Status string

// The statuses of a session.
const (
	Idle       Status = "idle"
	InProgress Status = "in_progress"
	Failed     Status = "failed"
)

// ParseStatus parses a status that is used as a filter.
func ParseStatus(s string) (Status, error) {
	switch st := Status(s); st {
	case Idle, InProgress, Failed:
		return st, nil
	default:
		return "", fault.Field(fault.Malformed, "status", "must be one of idle, in_progress, failed")
	}
}

// Session is one conversation. Times are epoch milliseconds.
type Session struct {
	ID          string          `json:"id"`
	UserID      string          `json:"user_id"`
	AppName     string          `json:"app_name"`
	Agent       string          `json:"agent"`
	Name        string          `json:"name"`
	Status      Status          `json:"status"`
	ActiveRunID *string         `json:"active_run_id"`
	Metadata    json.RawMessage `json:"metadata"`
	Fork        *Fork           `json:"fork"`
	Epoch       int64           `json:"epoch"`
	HeadSeq     int64           `json:"head_seq"`
	CreatedTime int64           `json:"created_time"`
	UpdatedTime int64           `json:"updated_time"`
	// Access is how much a caller other than the owner may do: read, write, or
	// admin for an admin who reads; "" for the owner.
	Access string `json:"access,omitempty"`
	// Retention is after how many seconds without activity the session is deleted,
	// and ExpiresTime is when that would be; both are 0 if it is kept.
	Retention   int64 `json:"retention,omitempty"`
	ExpiresTime int64 `json:"expires_time,omitempty"`
	// Match is the message that a search of messages found, nil otherwise.
	Match *Match `json:"match,omitempty"`

	// Version counts the callers' changes of the session itself: it is the ETag.
	// Appending to the log does not change it.
	Version int64 `json:"-"`
}

// Match is a message that has the words of a search.
type Match struct {
	EventID      string `json:"event_id"`
	InvocationID string `json:"invocation_id"`
	Seq          int64  `json:"seq"`
	Author       string `json:"author"`
	Text         string `json:"text"` // an excerpt
}

// Fork is the origin of a forked session.
type Fork struct {
	SessionID string `json:"session_id"`
	// RewindBeforeInvocationID is the boundary; nil for a fork of everything.
	RewindBeforeInvocationID *string `json:"rewind_before_invocation_id"`
	// BoundaryFound is false if the boundary was not in the log, so that everything
	// was taken over instead.
	BoundaryFound bool `json:"boundary_found"`

	// Taken is how many events were taken over: the seq of the last of them.
	Taken int64 `json:"-"`
}

// New is a request to create a session.
type New struct {
	ID       string
	UserID   string
	AppName  string
	Agent    string
	Name     string
	State    Delta
	Metadata json.RawMessage
	// Retention is the session's own, in seconds; 0 uses that of its agent or the
	// deployment.
	Retention int64
	// Nonce identifies this creation, so that a creation whose answer was lost is
	// distinguished from another session with the same id.
	Nonce string
	// KeyedBy names the claim of the Idempotency-Key of the request, "" without
	// one: the stored answer is deleted with the session.
	KeyedBy string
	// Chain is the automations that led to the session, the first one first.
	Chain []string
	// CreatedBy is the member of that name of the event with the initial state; nil for none.
	CreatedBy json.RawMessage
}

// Validate sets the defaults and returns a fault that names the fields that break
// rules.
func (n *New) Validate() error {
	var broken fault.Broken
	if n.Agent != "" {
		broken.Add(ids.CheckAgent("/agent", n.Agent))
	}
	if n.AppName == "" {
		n.AppName = strings.Replace(n.Agent, "/", "~", 1) // as in its A2A address; an app is an id
	}
	if n.AppName == "" {
		n.AppName = DefaultApp
	}
	if len(n.Metadata) == 0 {
		n.Metadata = json.RawMessage("{}")
	}
	broken.Add(ids.CheckNew("/id", n.ID))
	if n.AppName != strings.Replace(n.Agent, "/", "~", 1) { // the agent was checked
		broken.Add(ids.Check("/app_name", n.AppName))
	}
	broken.Add(checkName(n.Name))
	broken.Add(checkMetadata(n.Metadata))
	if n.Retention != 0 {
		broken.Add(CheckRetention("/retention", n.Retention))
	}
	broken.Add(n.State.Validate("/state"))
	return broken.Err()
}

// Patch changes a session; nil leaves a field unchanged.
type Patch struct {
	Name     *string
	Metadata json.RawMessage
	// Retention is the session's own, in seconds; 0 removes it, which leaves that
	// of its agent or the deployment.
	Retention *int64
	IfMatch   *int64 // the expected version
}

// Validate returns a fault that names the fields that break rules.
func (p Patch) Validate() error {
	if p.Name == nil && p.Metadata == nil && p.Retention == nil {
		return fault.New(fault.NothingToChange, "nothing to change: give name, metadata or retention")
	}
	var broken fault.Broken
	if p.Retention != nil && *p.Retention != 0 {
		broken.Add(CheckRetention("/retention", *p.Retention))
	}
	if p.Name != nil {
		broken.Add(checkName(*p.Name))
	}
	if p.Metadata != nil {
		broken.Add(checkMetadata(p.Metadata))
	}
	return broken.Err()
}

func checkName(name string) error {
	if utf8.RuneCountInString(name) > MaxName {
		return fault.Field(fault.Invalid, "/name", "must be at most %d characters", MaxName)
	}
	return nil
}

func checkMetadata(m json.RawMessage) error {
	if !jsonx.IsObject(m) {
		return fault.Field(fault.Malformed, "/metadata", "must be an object")
	}
	if len(m) > MaxMetadata {
		return fault.Field(fault.Invalid, "/metadata", "must be at most %d bytes", MaxMetadata)
	}
	return nil
}
