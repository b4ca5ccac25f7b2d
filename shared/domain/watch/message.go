package watch

import (
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Type says what a message tells.
type Type string

// The types of messages, on every transport.
const (
	// Status tells that a run began or ended. Without a status it covers log
	// positions that nothing is shown of.
	Status Type = "thread.status"
	// Snapshot brings an item: a whole event, or one in progress with the
	// Offset that its content has reached. A client drops the item and all
	// after it, then takes what the message brings. Where not all of it fits,
	// the deltas up to Until follow.
	Snapshot Type = "item.snapshot"
	// DeltaType brings the delta with the number Offset of an item in progress.
	// A delta whose Prev names an earlier offset than Offset-1 stands for all
	// deltas in between.
	DeltaType Type = "item.delta"
	// ItemCompleted and ItemFailed bring an item's final form. It takes the
	// item's place; what came after the item stays.
	ItemCompleted Type = "item.completed"
	ItemFailed    Type = "item.failed"
	// Rewound tells that what came after ToSeq is gone, in the new Epoch. A
	// rewind that brings other items back is told as a Reload.
	Rewound Type = "thread.rewound"
	// Deleted is the last message of a session.
	Deleted Type = "thread.deleted"
	// Reload tells to read the thread and to watch from its cursor.
	Reload Type = "thread.reload"
)

// Reasons of a Reload.
const (
	ReasonBehind = "too_far_behind"
	ReasonEpoch  = "history_changed" // the cursor is from before a rewind
	ReasonGone   = "item_not_found"  // last_item_id is not there, or not any more
	ReasonSize   = "item_too_large"  // for a frame
)

// Message tells watchers of one session what happened. Cursor is where a
// watcher stands who has applied it, Prev where one stood who had applied all
// before it: who stands further back has missed something.
type Message struct {
	Type      Type   `json:"type"`
	SessionID string `json:"session_id"`
	Cursor    Cursor `json:"cursor"`
	Prev      Cursor `json:"prev"`
	// Subscription is the request id of the subscription that the message
	// answers; news have none.
	Subscription string `json:"subscription,omitempty"`

	// Of Status:
	Status session.Status `json:"status,omitempty"`
	RunID  string         `json:"run_id,omitempty"` // of the run that began or ended
	Error  *run.Problem   `json:"error,omitempty"`

	// Of items:
	Item   *session.Event `json:"item,omitempty"`
	ItemID string         `json:"item_id,omitempty"`
	Offset *int64         `json:"offset,omitempty"`
	Delta  *run.Delta     `json:"delta,omitempty"`

	// Until is the number of the last delta that an item in progress has, where
	// a Snapshot holds not all of them.
	Until *int64 `json:"until,omitempty"`
	// Of Rewound and Reload:
	ToSeq  *int64 `json:"to_seq,omitempty"`
	Epoch  *int64 `json:"epoch,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// SnapshotOf is the message that brings an event; it has no Prev.
func SnapshotOf(epoch int64, e session.Event) Message {
	return Message{Type: Snapshot, Cursor: Behind(epoch, e), Item: &e, ItemID: e.ID, Offset: &e.Deltas}
}
