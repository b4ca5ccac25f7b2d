package view

import (
	"encoding/json"
	"errors"
	"fmt"
)

var errIncomplete = errors.New("a member is missing")

// ParseMessage parses a message about a session. It ignores unknown members, and
// fails if a member that the message's type requires is missing. Messages of
// unknown types are accepted.
func ParseMessage(frame []byte) (Message, error) {
	var in struct {
		Message

		Prev *Cursor `json:"prev"` // null in the first message of a stream
	}
	if err := json.Unmarshal(frame, &in); err != nil {
		return Message{}, fmt.Errorf("parse a message: %w", err)
	}
	m := in.Message
	if in.Prev != nil {
		m.Prev = *in.Prev
	}
	if m.Item != nil {
		m.ItemID = m.Item.ID
	}
	if m.incomplete() {
		return Message{}, fmt.Errorf("parse a message of type %q: %w", m.Type, errIncomplete)
	}
	return m, nil
}

// incomplete reports whether a member that the message's type requires is missing.
func (m *Message) incomplete() bool {
	switch m.Type {
	case TypeSnapshot, TypeCompleted, TypeFailed:
		return m.Item == nil
	case TypeDelta:
		return m.Delta == nil || m.Delta.Part < 0 || m.ItemID == ""
	case TypeRewound:
		return m.ToSeq == nil
	case TypeQueue:
		return m.QueueVersion < 1
	default:
		return m.Type == ""
	}
}

// ParseThread parses the response of GET /sessions/{id}/thread, one page; next is
// the query parameter cursor of the following page, "" for the last one.
func ParseThread(body []byte) (page Thread, next string, err error) {
	var in struct {
		Data struct {
			Status Status  `json:"status"`
			Items  []Event `json:"items"`
			Cursor Cursor  `json:"cursor"`
			Run    *struct {
				ID       string   `json:"id"`
				Error    *Problem `json:"error"`
				OnFailed string   `json:"on_failed"`
			} `json:"run"`

			Queued       []Queued `json:"queued"`
			QueueVersion int64    `json:"queue_version"`

			Offsets map[string]int64 `json:"offsets"`
		} `json:"data"`
		Meta struct {
			NextCursor string `json:"next_cursor"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Thread{}, "", fmt.Errorf("parse a thread: %w", err)
	}
	page = Thread{
		Items: in.Data.Items, Cursor: in.Data.Cursor, Status: in.Data.Status, Offsets: in.Data.Offsets,
		Queued: in.Data.Queued, QueueVersion: in.Data.QueueVersion,
	}
	if in.Data.Run != nil {
		page.RunID, page.Error = in.Data.Run.ID, in.Data.Run.Error
		page.Kept = page.Status == Failed && in.Data.Run.OnFailed == Keep
	}
	return page, in.Meta.NextCursor, nil
}
