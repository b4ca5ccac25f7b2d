package watch

import (
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
)

// Frame encodes a message for the watchers of a session. A message that is larger
// than MaxMessage becomes a Reload with the same cursor, one about a queue loses the
// inputs.
func Frame(m Message, sessionID string) (frame []byte, err error) {
	m.SessionID = sessionID
	if m.Item != nil {
		item := *m.Item // the item may be shared
		item.SessionID = sessionID
		m.Item = &item
	}
	if frame, err = m.encode(); err != nil || len(frame) <= MaxMessage {
		return frame, err
	}
	if m.Type == QueueType {
		return m.withoutInputs().encode()
	}
	return Message{
		Type: Reload, SessionID: sessionID, Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription, Reason: ReasonSize,
	}.encode()
}

// Fits reports whether the message fits MaxMessage.
func (m Message) Fits() bool {
	if m.Item != nil && m.Item.Size() < MaxMessage/2 {
		return true
	}
	frame, err := m.encode()
	return err != nil || len(frame) <= MaxMessage-requestBytes
}

// requestBytes is the maximum size of a request id, escaped as JSON.
const requestBytes = 6*ids.MaxLength + 64

func (m Message) encode() (frame []byte, err error) {
	defer func() { // an event panics if its members are not JSON
		if v := recover(); v != nil {
			frame, err = nil, fmt.Errorf("encode a message: %v", v)
		}
	}()
	if frame, err = jsonx.Marshal(m); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return frame, nil
}
