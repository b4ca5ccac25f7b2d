package watch

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
)

var errIncomplete = errors.New("a member is missing")

// ParseMessage parses a message about a session in its wire format. Unknown members
// are ignored.
func ParseMessage(frame []byte) (Message, error) {
	var in struct {
		Message
		Prev *Cursor         `json:"prev"` // null at the start of watching
		Item json.RawMessage `json:"item"`
	}
	if err := json.Unmarshal(frame, &in); err != nil {
		return Message{}, fmt.Errorf("read a message: %w", err)
	}
	m := in.Message
	if in.Prev != nil {
		m.Prev = *in.Prev
	}
	if in.Item != nil {
		e, err := ParseItem(in.Item)
		if err != nil {
			return Message{}, fmt.Errorf("read an item: %w", err)
		}
		m.Item, m.ItemID = &e, e.ID
	}
	if incomplete(m) {
		return Message{}, fmt.Errorf("read a message of type %q: %w", m.Type, errIncomplete)
	}
	return m, nil
}

// incomplete reports whether the message lacks members that its type needs.
func incomplete(m Message) bool {
	switch m.Type {
	case Snapshot, ItemCompleted, ItemFailed:
		return m.Item == nil
	case DeltaType:
		return m.Delta == nil || m.ItemID == ""
	case Rewound:
		return m.ToSeq == nil
	case QueueType:
		return m.Queued == nil || m.QueueVersion == 0
	default:
		return m.Type == ""
	}
}

// ParseItem parses an event of a session in its external form.
func ParseItem(raw json.RawMessage) (session.Event, error) {
	e, err := session.ParseEvent(raw, "")
	if err != nil {
		return session.Event{}, err
	}
	var given struct {
		Seq         int64               `json:"seq"`
		SessionID   string              `json:"session_id"`
		Status      session.EventStatus `json:"status"`
		CreatedTime int64               `json:"created_time"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return session.Event{}, err
	}
	e.Seq, e.SessionID, e.Status, e.CreatedTime = given.Seq, given.SessionID, given.Status, given.CreatedTime
	return e, nil
}
