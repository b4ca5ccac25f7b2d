// Package archive is the domain of moving sessions between deployments: the
// document that contains a whole session, how it is written while the session is
// read, and how it is parsed. docs/archive.md describes it.
package archive

import (
	"context"
	"encoding/json"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Format is the name of the document and its version. A version that older readers
// cannot read gets another number.
const Format = "rethread.session/1"

// Limits of an import.
const (
	MaxPart  = 32 << 20 // bytes of JSON of one part
	MaxParts = 100_000
	// MaxShared is how many versions of artifacts that a user's sessions share one
	// import may add: they become visible in one transaction with the session.
	MaxShared = 60
)

// Head is the beginning of a document.
type Head struct {
	ExportedTime int64
	Session      session.Session
	// TakenOver is the last seq that the session inherited from its source, if it is
	// or was a fork.
	TakenOver int64
	// Branched is set if the session is or was a fork: its state may contain more
	// than its own events set.
	Branched bool
	// SpentRun is the last run, if it failed or was cancelled and is not kept: the next input
	// discards it.
	SpentRun string
	// KeptRun is the last run, if it failed and is kept.
	KeptRun  string
	Timeline Timeline
}

// Range is a range of seqs that the session shows. To 0 is the end of the log.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to,omitempty"`
}

// Timeline is the ranges that a session shows, in order; between two of them some
// events are hidden.
type Timeline []Range

// Event is an event of the log, with the log's data about it.
type Event struct {
	session.Event
	Log Log
}

// Log is a log's data about an event besides the event itself.
type Log struct {
	// Joins is set if the event was stored in one entry with the previous one; then
	// only Undo and Task apply to the event itself.
	Joins bool `json:"joins,omitempty"`
	// Undo reverts the event's changes. Keys that begin with NUL represent
	// artifacts.
	Undo session.Delta `json:"undo,omitempty"`
	// Task is the task whose position the event is.
	Task      string   `json:"task,omitempty"`
	Initial   bool     `json:"initial,omitempty"` // carries the initial state
	Hidden    bool     `json:"hidden,omitempty"`  // shown only with the whole log
	Timeline  Timeline `json:"timeline,omitempty"`
	ToSeq     int64    `json:"to_seq,omitempty"`
	Back      bool     `json:"back,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
	Began     string   `json:"began,omitempty"` // run whose input it is
	Ended     string   `json:"ended,omitempty"` // run that it ends
	Deltas    int64    `json:"deltas,omitempty"`
	Streamed  bool     `json:"streamed,omitempty"`
	// Own is the event's own member with the name of this one.
	Own json.RawMessage `json:"own,omitempty"`
}

// Marks reports whether the event is a rewind's marker.
func (l Log) Marks() bool { return l.Timeline != nil }

// Task is a task as it was saved, and its position.
type Task struct {
	ID          string          `json:"task_id"`
	UserMessage json.RawMessage `json:"user_message,omitempty"`
	Bubbles     json.RawMessage `json:"message_bubbles"`
	Metadata    json.RawMessage `json:"task_metadata,omitempty"`
	CreatedTime int64           `json:"created_time"`
	UpdatedTime int64           `json:"updated_time"`
	Place       int64           `json:"place"` // seq of its first invocation
	First       string          `json:"first,omitempty"`
	// Places maps the task's invocations to the seqs at which they begin, 0 for one
	// without events in the session; Named are the invocations that its messages
	// name.
	Places map[string]int64 `json:"places,omitempty"`
	Named  []string         `json:"named,omitempty"`
}

// Feedback is a rating of a task.
type Feedback struct {
	TaskID      string `json:"task_id"`
	Type        string `json:"type"`
	Text        string `json:"text,omitempty"`
	CreatedTime int64  `json:"created_time"`
}

// Artifact is one version of an artifact. It has Data unless it is Restored, Gone
// or Missing. A reference includes the bytes that it refers to, so that the
// document is self-contained.
type Artifact struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	MimeType    string `json:"mime_type,omitempty"`
	Size        int64  `json:"size"`
	CreatedTime int64  `json:"created_time"`
	Reference   string `json:"reference,omitempty"`
	Restored    *int64 `json:"restored,omitempty"` // the version that a rewind restored
	Gone        bool   `json:"gone,omitempty"`     // reads as deleted
	Missing     bool   `json:"missing,omitempty"`  // refers to a version that does not exist any more
	Data        []byte `json:"data,omitempty"`     // base64
}

// Request is a request as it was sent to the agent of a run, while it is kept.
type Request struct {
	Run string `json:"run_id"`
	run.SentRequest
}

// State is the state at the end of the document.
type State struct {
	session.State
	// Artifacts are the versions that belong to the conversation now.
	Artifacts map[string]int64 `json:"artifacts"`
	// Elsewhere are the shared keys, deleted ones included, that another session
	// changed last: a rewind does not restore them.
	Elsewhere []string `json:"changed_elsewhere,omitempty"`
}

// Sink receives a document in the order of its members: Begin, events, tasks,
// feedback, artifacts, requests, End.
type Sink interface {
	Begin(Head) error
	Event(Event) error
	Task(Task) error
	Feedback(Feedback) error
	Artifact(Artifact) error
	Request(Request) error
	End(State, []run.Run) error
}

// Exporter reads whole sessions.
type Exporter interface {
	// Export passes a session to a sink piece by piece. It returns fault.Conflict
	// during a run, before Begin, or if the session changed during the export or a
	// part of it cannot be read; End is then not called.
	Export(ctx context.Context, userID, sessionID string, to Sink) error
}

// Part is a document, or a part of one: the first part has the head, the last is
// complete.
type Part struct {
	Head      *Head
	Events    []Event
	Tasks     []Task
	Feedback  []Feedback
	Artifacts []Artifact
	Requests  []Request
	State     *State
	Complete  bool
}

// Upload is an uploaded part.
type Upload struct {
	UserID   string
	ImportID string
	Number   int    // of the part, from 1
	Digest   string // of the part
	// SessionID is the id for the session; "" keeps the document's. Only the first
	// part may set it.
	SessionID string
	// KeyedBy names the claim of the Idempotency-Key of the import, as in
	// session.New. Only the first part may set it.
	KeyedBy string
	Part    *Part
}

// Progress is the progress of an import. Session is set once it is complete.
type Progress struct {
	ImportID    string           `json:"import_id"`
	SessionID   string           `json:"session_id"`
	NextPart    int              `json:"next_part"`
	ExpiresTime int64            `json:"expires_time"`
	Session     *session.Session `json:"-"`
	// Kept are the shared keys and artifacts that the user or the app already had
	// with another value; they were not changed.
	Kept []string `json:"-"`
}

// Importer imports sessions.
type Importer interface {
	// Import imports a part. Nothing is visible before the last part; a repeated
	// part changes nothing. It returns fault.Conflict if the id of the session is
	// taken or another part is expected, and fault.Invalid if the document
	// contradicts itself; nothing has changed then.
	Import(ctx context.Context, u Upload) (Progress, error)
	// Abandon ends an incomplete import.
	Abandon(ctx context.Context, userID, importID string) error
}
