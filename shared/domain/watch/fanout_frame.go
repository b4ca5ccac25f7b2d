package watch

import (
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Frame is a message as the watchers of a session get it. One that is larger
// than MaxMessage becomes a Reload at the same place.
func Frame(m Message, sessionID string) (frame []byte, err error) {
	m.SessionID = sessionID
	if m.Item != nil {
		item := *m.Item // others may hold the same one
		item.SessionID = sessionID
		m.Item = &item
	}
	if frame, err = m.encode(); err != nil || len(frame) <= MaxMessage {
		return frame, err
	}
	return Message{
		Type: Reload, SessionID: sessionID, Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription, Reason: ReasonSize,
	}.encode()
}

// Fits reports whether the message can be sent as it is.
func (m Message) Fits() bool {
	if m.Item != nil && m.Item.Size() < MaxMessage/2 {
		return true
	}
	frame, err := m.encode()
	return err != nil || len(frame) <= MaxMessage-requestBytes
}

// requestBytes is what a request id may take, escaped as JSON.
const requestBytes = 6*fault.MaxID + 64

func (m Message) encode() (frame []byte, err error) {
	defer func() { // an event panics where its members are no JSON
		if v := recover(); v != nil {
			frame, err = nil, fmt.Errorf("encode a message: %v", v)
		}
	}()
	if frame, err = jsonx.Marshal(m); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return frame, nil
}
