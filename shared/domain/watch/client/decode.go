package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

var errIncomplete = errors.New("a member is missing")

// ParseMessage reads a message about a session as it is on the wire. Members
// that it does not know are left out.
func ParseMessage(frame []byte) (watch.Message, error) {
	var in struct {
		watch.Message
		Prev *watch.Cursor   `json:"prev"` // null where watching begins
		Item json.RawMessage `json:"item"`
	}
	if err := json.Unmarshal(frame, &in); err != nil {
		return watch.Message{}, fmt.Errorf("read a message: %w", err)
	}
	m := in.Message
	if in.Prev != nil {
		m.Prev = *in.Prev
	}
	if in.Item != nil {
		e, err := parseItem(in.Item)
		if err != nil {
			return watch.Message{}, fmt.Errorf("read an item: %w", err)
		}
		m.Item, m.ItemID = &e, e.ID
	}
	if lacks(m) {
		return watch.Message{}, fmt.Errorf("read a message of type %q: %w", m.Type, errIncomplete)
	}
	return m, nil
}

// lacks reports whether the message has not all that its type needs.
func lacks(m watch.Message) bool {
	switch m.Type {
	case watch.Snapshot, watch.ItemCompleted, watch.ItemFailed:
		return m.Item == nil
	case watch.DeltaType:
		return m.Delta == nil || m.ItemID == ""
	case watch.Rewound:
		return m.ToSeq == nil
	default:
		return m.Type == ""
	}
}

// parseItem reads an event as callers see it.
func parseItem(raw json.RawMessage) (session.Event, error) {
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

// ParseThread reads a page of GET thread; next is the cursor of the page after
// it, empty at the end.
func ParseThread(body []byte) (page Thread, next string, err error) {
	var in struct {
		Data struct {
			Status session.Status    `json:"status"`
			Items  []json.RawMessage `json:"items"`
			Cursor watch.Cursor      `json:"cursor"`
			Run    *run.Run          `json:"run"`

			Offsets map[string]int64 `json:"offsets"`
		} `json:"data"`
		Meta struct {
			NextCursor string `json:"next_cursor"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Thread{}, "", fmt.Errorf("read a thread: %w", err)
	}
	page = Thread{Cursor: in.Data.Cursor, Status: in.Data.Status, Offsets: in.Data.Offsets}
	if in.Data.Run != nil {
		page.RunID, page.Error = in.Data.Run.ID, in.Data.Run.Error
	}
	for _, raw := range in.Data.Items {
		e, err := parseItem(raw)
		if err != nil {
			return Thread{}, "", fmt.Errorf("read a thread's item: %w", err)
		}
		page.Items = append(page.Items, e)
	}
	return page, in.Meta.NextCursor, nil
}
