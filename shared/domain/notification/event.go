package notification

// Type is the type of an event.
type Type string

// The types of events. Webhooks receive all but the last two, which A2A represents
// in its own way.
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

	ItemCompleted Type = "item.completed" // or failed: the item is final
	TaskCancelled Type = "task.cancelled" // an A2A task, while it waited for its user
)

// EndsRun reports whether events of the type end a run.
func (t Type) EndsRun() bool { return t == RunCompleted || t == RunFailed || t == RunCancelled }

// Event is a change of a session, by reference: its consumers read the facts where
// they are stored.
type Event struct {
	// ID is the same however often the event is sent.
	ID   string `json:"id"`
	Type Type   `json:"type"`
	// UserID and SessionID are the owner and, for changes of a session, the
	// session. Agent is the agent that the session names or, for a run, the agent
	// that runs. ItemCompleted has them only if the change itself contains them.
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	// Log is the name of the session's log.
	Log string `json:"log,omitempty"`
	// RunID is the run or, for TaskCancelled, the task. TaskID is the task of
	// TaskSaved and FeedbackCreated.
	RunID  string `json:"run_id,omitempty"`
	TaskID string `json:"task_id,omitempty"`
	// Source is the forked session of SessionForked.
	Source string `json:"source,omitempty"`
	// Before is the invocation before which a session was rewound or forked
	// (SessionRewound, SessionForked); "" for a fork of everything.
	Before string `json:"before,omitempty"`
	// Artifact and Version identify the version of ArtifactSaved.
	Artifact string `json:"artifact,omitempty"`
	Version  int64  `json:"version,omitempty"`
	// Feedback is the type of FeedbackCreated.
	Feedback string `json:"feedback,omitempty"`
	// Error is the code of a run's failure.
	Error string `json:"error,omitempty"`
	// Depth is how many automations in sequence caused the event; 0 if none did.
	// Chain lists their ids, the first one first.
	Depth int      `json:"depth,omitempty"`
	Chain []string `json:"chain,omitempty"`
	// Seq is the event's position in the log, 0 if it has none.
	Seq int64 `json:"seq,omitempty"`
	// Time is when the change happened, in epoch milliseconds.
	Time int64 `json:"time"`
}
