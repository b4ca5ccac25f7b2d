package watch

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Type is the type of a message.
type Type string

// The types of messages, on every transport.
const (
	// Status says that a run began or ended. Without a status it covers log
	// positions that are not shown.
	Status Type = "thread.status"
	// Snapshot carries an item: a whole event, or one in progress with the Offset
	// that its content has reached. A client drops the item and everything after
	// it, then applies the message. If not all content fits, the deltas up to Until
	// follow.
	Snapshot Type = "item.snapshot"
	// DeltaType carries the delta with the number Offset of an item in progress. If
	// its Prev has an offset before Offset-1, it replaces all deltas in between.
	DeltaType Type = "item.delta"
	// ItemCompleted and ItemFailed carry an item's final form, which replaces the
	// item; what follows the item stays.
	ItemCompleted Type = "item.completed"
	ItemFailed    Type = "item.failed"
	// Rewound says that everything after ToSeq is gone, in the new Epoch. A rewind
	// that restores other items is sent as a Reload.
	Rewound Type = "thread.rewound"
	// QueueType carries the session's queued starts, all of them. A client applies it
	// at once, whatever its position: of two lists, the one with the higher
	// QueueVersion is newer.
	QueueType Type = "thread.queue"
	// Deleted is the last message of a session.
	Deleted Type = "thread.deleted"
	// Reload asks to read the thread and to watch from its cursor.
	Reload Type = "thread.reload"
)

// Known reports whether this version knows the type of a message. Newer versions may
// have others.
func (t Type) Known() bool {
	switch t {
	case Status, Snapshot, DeltaType, ItemCompleted, ItemFailed, Rewound, QueueType, Deleted, Reload:
		return true
	default:
		return false
	}
}

// Reasons of a Reload.
const (
	ReasonBehind = "too_far_behind"
	ReasonEpoch  = "history_changed" // the cursor is from before a rewind
	ReasonGone   = "item_not_found"  // last_item_id does not exist, or not any more
	ReasonSize   = "item_too_large"  // the item is too large for a frame
)

// Message is a message to the watchers of one session. Cursor is the position of a
// watcher that has applied it, Prev that of a watcher that has applied everything
// before it: a watcher before Prev has missed something.
type Message struct {
	Type      Type   `json:"type"`
	SessionID string `json:"session_id"`
	Cursor    Cursor `json:"cursor"`
	Prev      Cursor `json:"prev"`
	// Subscription is the request id of the subscription that the message answers;
	// empty for updates.
	Subscription string `json:"subscription,omitempty"`

	// For Status:
	Status session.Status `json:"status,omitempty"`
	RunID  string         `json:"run_id,omitempty"` // of the run that began or ended
	Error  *run.Problem   `json:"error,omitempty"`
	// OnFailed is Keep if the run failed and is kept.
	OnFailed run.OnFailed `json:"on_failed,omitempty"`

	// For items:
	Item   *session.Event `json:"item,omitempty"`
	ItemID string         `json:"item_id,omitempty"`
	Offset *int64         `json:"offset,omitempty"`
	Delta  *content.Delta `json:"delta,omitempty"`

	// Until is the number of the last delta of an item in progress if a Snapshot
	// does not contain all of them.
	Until *int64 `json:"until,omitempty"`
	// For Rewound and Reload:
	ToSeq  *int64 `json:"to_seq,omitempty"`
	Epoch  *int64 `json:"epoch,omitempty"`
	Reason string `json:"reason,omitempty"`

	// For QueueType; Truncated says that the inputs are left out, because they do not
	// fit a message.
	QueueVersion int64        `json:"queue_version,omitempty"`
	Queued       *[]run.Shown `json:"queued,omitempty"`
	Truncated    bool         `json:"truncated,omitempty"`
}

// QueueOf returns the message about a session's queue, for a watcher at a position.
// It does not move the watcher.
func QueueOf(q run.Queue, at Cursor) Message {
	queued := q.Shown()
	return Message{Type: QueueType, Cursor: at, Prev: at, QueueVersion: q.Version, Queued: &queued}
}

// withoutInputs returns the message about a queue without the inputs.
func (m Message) withoutInputs() Message {
	queued := slices.Clone(*m.Queued)
	for i := range queued {
		queued[i].Input = nil
	}
	m.Queued, m.Truncated = &queued, true
	return m
}

// SnapshotOf returns the message that carries an event; it has no Prev.
func SnapshotOf(epoch int64, e session.Event) Message {
	return Message{Type: Snapshot, Cursor: CursorAfter(epoch, e), Item: &e, ItemID: e.ID, Offset: &e.Deltas}
}
