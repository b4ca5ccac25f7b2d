package view

// Type is the type of a message. A newer server may send other types; they are
// treated as a TypeStatus without a status.
type Type string

// The types of messages.
const (
	// TypeStatus says that a run began or ended. Without a status it covers
	// positions of the log that show no item.
	TypeStatus Type = "thread.status"
	// TypeSnapshot carries an item, final or with its content so far.
	TypeSnapshot Type = "item.snapshot"
	// TypeDelta carries an addition to an item in progress.
	TypeDelta Type = "item.delta"
	// TypeCompleted and TypeFailed carry an item's final form.
	TypeCompleted Type = "item.completed"
	TypeFailed    Type = "item.failed"
	// TypeRewound says that a rewind removed the items after ToSeq.
	TypeRewound Type = "thread.rewound"
	// TypeQueue carries the queued inputs.
	TypeQueue Type = "thread.queue"
	// TypeDeleted is the last message of a session.
	TypeDeleted Type = "thread.deleted"
	// TypeReload says that the client must read the thread again and watch from
	// its cursor.
	TypeReload Type = "thread.reload"
)

// Reasons of a TypeReload.
const (
	ReasonBehind = "too_far_behind"  // too many messages are missing
	ReasonEpoch  = "history_changed" // the cursor is from before a rewind
	ReasonGone   = "item_not_found"
	ReasonSize   = "item_too_large" // the item does not fit in a message
)

// Status is the status of a session.
type Status string

// The statuses of a session.
const (
	Idle       Status = "idle"
	InProgress Status = "in_progress" // a run is active
	Failed     Status = "failed"      // the last run failed
)

// Keep is the OnFailed of a failed run that the next input does not discard.
const Keep = "keep"

// Problem describes why a run failed.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Message describes one change of a session. Cursor is the position of a watcher
// after applying it, Prev the position it must have before.
type Message struct {
	Type      Type   `json:"type"`
	SessionID string `json:"session_id"`
	Cursor    Cursor `json:"cursor"`
	Prev      Cursor `json:"prev"`

	// Members of TypeStatus:
	Status Status   `json:"status"`
	RunID  string   `json:"run_id"` // the run that began or ended
	Error  *Problem `json:"error"`
	// OnFailed is Keep if the run failed and is kept.
	OnFailed string `json:"on_failed"`

	// Members of TypeQueue:
	QueueVersion int64    `json:"queue_version"` // grows with each change, from 1
	Queued       []Queued `json:"queued"`        // all of them, in order
	// Truncated says that Queued does not fit in a message and is without inputs.
	Truncated bool `json:"truncated"`

	// Members of the types that begin with "item.":
	Item   *Event `json:"item"`
	ItemID string `json:"item_id"`
	Delta  *Delta `json:"delta"`
	// Until is set in a TypeSnapshot without all of the item's deltas: the number
	// of its last delta.
	Until *int64 `json:"until"`

	// Members of TypeRewound and TypeReload:
	ToSeq  *int64 `json:"to_seq"`
	Reason string `json:"reason"`
}
