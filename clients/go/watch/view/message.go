package view

// Type says what a message tells. A later server may know others; those are taken
// like a TypeStatus without a status.
type Type string

// The types of messages.
const (
	// TypeStatus tells that a run began or ended. Without a status it covers
	// positions of the log at which nothing is shown.
	TypeStatus Type = "thread.status"
	// TypeSnapshot brings an item, final or with its content so far.
	TypeSnapshot Type = "item.snapshot"
	// TypeDelta brings what is added to an item in progress.
	TypeDelta Type = "item.delta"
	// TypeCompleted and TypeFailed bring an item's final form.
	TypeCompleted Type = "item.completed"
	TypeFailed    Type = "item.failed"
	// TypeRewound tells that what came after ToSeq is gone.
	TypeRewound Type = "thread.rewound"
	// TypeDeleted is the last message of a session.
	TypeDeleted Type = "thread.deleted"
	// TypeReload tells to read the thread and to watch from its cursor.
	TypeReload Type = "thread.reload"
)

// Reasons of a TypeReload.
const (
	ReasonBehind = "too_far_behind"
	ReasonEpoch  = "history_changed" // the cursor is from before a rewind
	ReasonGone   = "item_not_found"
	ReasonSize   = "item_too_large" // for a message
)

// Status is how a session stands.
type Status string

// The statuses of a session.
const (
	Idle       Status = "idle"
	InProgress Status = "in_progress" // a run is active
	Failed     Status = "failed"      // the last run failed
)

// Problem is why a run failed.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Message tells what happened in one session. Cursor is where a watcher stands
// that has applied it, Prev where one stood that had applied all before it.
type Message struct {
	Type      Type   `json:"type"`
	SessionID string `json:"session_id"`
	Cursor    Cursor `json:"cursor"`
	Prev      Cursor `json:"prev"`

	// Of TypeStatus:
	Status Status   `json:"status"`
	RunID  string   `json:"run_id"` // of the run that began or ended
	Error  *Problem `json:"error"`

	// Of items:
	Item   *Event `json:"item"`
	ItemID string `json:"item_id"`
	Delta  *Delta `json:"delta"`
	// Until is the number of the last delta of an item in progress, where a
	// TypeSnapshot does not hold all of them.
	Until *int64 `json:"until"`

	// Of TypeRewound and TypeReload:
	ToSeq  *int64 `json:"to_seq"`
	Reason string `json:"reason"`
}
