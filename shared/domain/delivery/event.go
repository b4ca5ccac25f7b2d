package delivery

// Type says what happened.
type Type string

// What is told of. Receivers of webhooks hear of all but the last two, which
// A2A tells in its own way.
const (
	SessionCreated  Type = "session.created" // or imported
	SessionRewound  Type = "session.rewound"
	SessionForked   Type = "session.forked" // of the new session
	SessionDeleted  Type = "session.deleted"
	RunStarted      Type = "run.started"
	RunCompleted    Type = "run.completed"
	RunFailed       Type = "run.failed"
	RunCancelled    Type = "run.cancelled"
	TaskSaved       Type = "task.saved"
	FeedbackCreated Type = "feedback.created"
	ArtifactSaved   Type = "artifact.saved"

	ItemCompleted Type = "item.completed" // or failed: it grows no more
	TaskCancelled Type = "task.cancelled" // an A2A task, while it waited for its user
)

// EndsRun reports whether the event is that a run is over.
func (t Type) EndsRun() bool { return t == RunCompleted || t == RunFailed || t == RunCancelled }

// Event is something that happened to a session, by reference: who tells of it
// reads the facts where they are stored.
type Event struct {
	// ID is the same however often the event is told.
	ID   string `json:"id"`
	Type Type   `json:"type"`
	// UserID and SessionID say whose it is and, of what belongs to a session,
	// which; Agent is the one that the session names or, of a run, that runs.
	// ItemCompleted has them only where the change alone tells.
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	// Log is the name of the session's log.
	Log string `json:"log,omitempty"`
	// RunID is the run or, of TaskCancelled, the task. TaskID is the task of
	// TaskSaved and FeedbackCreated.
	RunID  string `json:"run_id,omitempty"`
	TaskID string `json:"task_id,omitempty"`
	// Source, of SessionForked, is the session that was forked.
	Source string `json:"source,omitempty"`
	// Before, of SessionRewound and SessionForked, is the invocation before which
	// it was; "" for a fork of everything.
	Before string `json:"before,omitempty"`
	// Artifact and Version name the version of ArtifactSaved.
	Artifact string `json:"artifact,omitempty"`
	Version  int64  `json:"version,omitempty"`
	// Feedback is the type of FeedbackCreated.
	Feedback string `json:"feedback,omitempty"`
	// Error is the code of why a run failed.
	Error string `json:"error,omitempty"`
	// Depth is how many automations, one after the other, led to it; 0 where
	// somebody else did it. Chain is their ids, the first one first.
	Depth int      `json:"depth,omitempty"`
	Chain []string `json:"chain,omitempty"`
	// Seq is the position of the log that the event stands at, 0 for one that
	// takes none.
	Seq int64 `json:"seq,omitempty"`
	// Time is when it happened, in epoch milliseconds.
	Time int64 `json:"time"`
}
