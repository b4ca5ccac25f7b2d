package view

import (
	"encoding/json"
	"errors"
	"fmt"
)

var errIncomplete = errors.New("a member is missing")

// ParseMessage reads a message about a session. Members that it does not know
// are left out.
func ParseMessage(frame []byte) (Message, error) {
	var in struct {
		Message

		Prev *Cursor `json:"prev"` // null where watching begins
	}
	if err := json.Unmarshal(frame, &in); err != nil {
		return Message{}, fmt.Errorf("read a message: %w", err)
	}
	m := in.Message
	if in.Prev != nil {
		m.Prev = *in.Prev
	}
	if m.Item != nil {
		m.ItemID = m.Item.ID
	}
	if m.lacks() {
		return Message{}, fmt.Errorf("read a message of type %q: %w", m.Type, errIncomplete)
	}
	return m, nil
}

// lacks reports whether the message has not all that its type needs.
func (m *Message) lacks() bool {
	switch m.Type {
	case TypeSnapshot, TypeCompleted, TypeFailed:
		return m.Item == nil
	case TypeDelta:
		return m.Delta == nil || m.Delta.Part < 0 || m.ItemID == ""
	case TypeRewound:
		return m.ToSeq == nil
	default:
		return m.Type == ""
	}
}

// ParseThread reads a page of GET thread; next is the cursor of the page after
// it, empty at the end.
func ParseThread(body []byte) (page Thread, next string, err error) {
	var in struct {
		Data struct {
			Status Status  `json:"status"`
			Items  []Event `json:"items"`
			Cursor Cursor  `json:"cursor"`
			Run    *struct {
				ID    string   `json:"id"`
				Error *Problem `json:"error"`
			} `json:"run"`

			Offsets map[string]int64 `json:"offsets"`
		} `json:"data"`
		Meta struct {
			NextCursor string `json:"next_cursor"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Thread{}, "", fmt.Errorf("read a thread: %w", err)
	}
	page = Thread{Items: in.Data.Items, Cursor: in.Data.Cursor, Status: in.Data.Status, Offsets: in.Data.Offsets}
	if in.Data.Run != nil {
		page.RunID, page.Error = in.Data.Run.ID, in.Data.Run.Error
	}
	return page, in.Meta.NextCursor, nil
}
