// Package archive is the domain of sessions that leave one deployment and enter
// another: the document that holds all of a session, how it is written while it
// is read, and how it is read back. docs/archive.md describes it.
package archive

import (
	"context"
	"encoding/json"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Format names the document and its version. A later version that readers of
// this one cannot read has another number.
const Format = "rethread.session/1"

// Limits of an import.
const (
	MaxPart  = 32 << 20 // bytes of JSON of one part
	MaxParts = 100_000
	// MaxShared is how many versions of artifacts that a user's sessions share
	// one import may add: they appear in one transaction with the session.
	MaxShared = 60
)

// Head opens a document.
type Head struct {
	ExportedTime int64
	Session      session.Session
	// TakenOver is the last seq that the session, where it is a fork or was one
	// before it was exported, has from its source.
	TakenOver int64
	// Branched is set where the session is a fork or was one: its state may hold
	// more than its own events explain.
	Branched bool
	// SpentRun is the last run, where it failed or was cancelled: the next input
	// discards it.
	SpentRun string
	Timeline Timeline
}

// Range is a stretch of seqs that the session shows. To 0 is the end of the log.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to,omitempty"`
}

// Timeline is the ranges that a session shows, in order, with something hidden
// between each and the next.
type Timeline []Range

// Event is an event of the whole log, with what only the log knows of it.
type Event struct {
	session.Event
	Log Log
}

// Log is what a log keeps of an event besides the event itself.
type Log struct {
	// Joins is set where the event was stored together with the one before it:
	// of what follows, only Undo and Task are then its own.
	Joins bool `json:"joins,omitempty"`
	// Undo takes back what the event changes. Keys that begin with NUL stand for
	// artifacts.
	Undo session.Delta `json:"undo,omitempty"`
	// Task is the one that the event places.
	Task      string   `json:"task,omitempty"`
	Initial   bool     `json:"initial,omitempty"` // carries the initial state
	Hidden    bool     `json:"hidden,omitempty"`  // listed with the whole log only
	Timeline  Timeline `json:"timeline,omitempty"`
	ToSeq     int64    `json:"to_seq,omitempty"`
	Back      bool     `json:"back,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
	Began     string   `json:"began,omitempty"` // run whose input it is
	Ended     string   `json:"ended,omitempty"` // run that it ends
	Deltas    int64    `json:"deltas,omitempty"`
	Streamed  bool     `json:"streamed,omitempty"`
	// Own is a member of the event that has the name of this one.
	Own json.RawMessage `json:"own,omitempty"`
}

// Marks reports whether the event is a rewind's marker.
func (l Log) Marks() bool { return l.Timeline != nil }

// Task is a task as it was saved, and where it stands.
type Task struct {
	ID          string          `json:"task_id"`
	UserMessage json.RawMessage `json:"user_message,omitempty"`
	Bubbles     json.RawMessage `json:"message_bubbles"`
	Metadata    json.RawMessage `json:"task_metadata,omitempty"`
	CreatedTime int64           `json:"created_time"`
	UpdatedTime int64           `json:"updated_time"`
	Place       int64           `json:"place"` // seq of its first invocation
	First       string          `json:"first,omitempty"`
	// Places are the seqs at which its invocations begin, 0 for one that the
	// session has no event of; Named those that its messages name.
	Places map[string]int64 `json:"places,omitempty"`
	Named  []string         `json:"named,omitempty"`
}

// Feedback is what was thought of a task.
type Feedback struct {
	TaskID      string `json:"task_id"`
	Type        string `json:"type"`
	Text        string `json:"text,omitempty"`
	CreatedTime int64  `json:"created_time"`
}

// Artifact is one version of an artifact. It holds Data, unless it is Restored,
// Gone or Missing. A reference comes with the bytes that it is read as, so that
// the document stands alone.
type Artifact struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	MimeType    string `json:"mime_type,omitempty"`
	Size        int64  `json:"size"`
	CreatedTime int64  `json:"created_time"`
	Reference   string `json:"reference,omitempty"`
	Restored    *int64 `json:"restored,omitempty"` // the version that a rewind brought back
	Gone        bool   `json:"gone,omitempty"`     // reads as not there
	Missing     bool   `json:"missing,omitempty"`  // refers to what is not there any more
	Data        []byte `json:"data,omitempty"`     // base64
}

// State is the state as of the document's end.
type State struct {
	session.State
	// Artifacts are the versions that belong to the conversation now.
	Artifacts map[string]int64 `json:"artifacts"`
	// Elsewhere are the shared keys, deleted ones too, that another session
	// changed last: a rewind leaves them alone.
	Elsewhere []string `json:"changed_elsewhere,omitempty"`
}

// Sink takes a document in the order of its members: Begin, events, tasks,
// feedback, artifacts, End.
type Sink interface {
	Begin(Head) error
	Event(Event) error
	Task(Task) error
	Feedback(Feedback) error
	Artifact(Artifact) error
	End(State, []run.Run) error
}

// Exporter reads whole sessions.
type Exporter interface {
	// Export hands a session to a sink piece by piece. fault.Conflict while a
	// run is in progress, before Begin, or where the session changed on the way or
	// a part of it cannot be read: then End is not called.
	Export(ctx context.Context, userID, sessionID string, to Sink) error
}

// Part is a document, or a part of one: the first has the head, the last is
// complete.
type Part struct {
	Head      *Head
	Events    []Event
	Tasks     []Task
	Feedback  []Feedback
	Artifacts []Artifact
	State     *State
	Complete  bool
}

// Upload is a part on its way in.
type Upload struct {
	UserID   string
	ImportID string
	Number   int    // of the part, from 1
	Digest   string // of the part
	// SessionID is the id that the session is to have; "" keeps the one that the
	// document names. Only the first part may say it.
	SessionID string
	// KeyedBy names the claim of the Idempotency-Key that the import is begun
	// under, as in session.New. Only the first part may say it.
	KeyedBy string
	Part    *Part
}

// Progress is how far an import has come. Session is set once it is complete.
type Progress struct {
	ImportID    string           `json:"import_id"`
	SessionID   string           `json:"session_id"`
	NextPart    int              `json:"next_part"`
	ExpiresTime int64            `json:"expires_time"`
	Session     *session.Session `json:"-"`
	// Kept are the shared keys and artifacts that the user, or the app, had
	// already with another value: they were left as they are.
	Kept []string `json:"-"`
}

// Importer takes sessions in.
type Importer interface {
	// Import takes a part. Nothing is visible before the last one; a part sent
	// again changes nothing. fault.Conflict where the id of the session is taken
	// or another part is expected, fault.Invalid where the document contradicts
	// itself; nothing has changed then.
	Import(ctx context.Context, u Upload) (Progress, error)
	// Abandon ends an import that is not complete.
	Abandon(ctx context.Context, userID, importID string) error
}
