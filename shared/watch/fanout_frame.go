package watch

import (
	"fmt"

	"github.com/rethread/rethread/shared/plainjson"
)

// Frame is a message as the watchers of a session get it. One that is larger
// than MaxMessage becomes a Reload at the same place.
func Frame(m Message, sessionID string) (frame []byte, err error) {
	defer func() { // an event panics where its members are no JSON
		if v := recover(); v != nil {
			frame, err = nil, fmt.Errorf("encode a message: %v", v)
		}
	}()
	m.SessionID = sessionID
	if m.Item != nil {
		item := *m.Item // others may hold the same one
		item.SessionID = sessionID
		m.Item = &item
	}
	if frame, err = plainjson.Marshal(m); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	if len(frame) <= MaxMessage {
		return frame, nil
	}
	return plainjson.Marshal(Message{
		Type: Reload, SessionID: sessionID, Cursor: m.Cursor, Prev: m.Prev, Reason: ReasonSize,
	})
}
