package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// EventStatus is the status of an event.
type EventStatus string

// The statuses of an event.
const (
	EventCompleted  EventStatus = "completed"
	EventInProgress EventStatus = "in_progress"
	EventFailed     EventStatus = "failed"
)

// Event is an item of a session, as in the API's Event.
type Event struct {
	ID           string
	Seq          int64 // position in the log
	SessionID    string
	Status       EventStatus
	CreatedTime  int64 // epoch milliseconds
	InvocationID string
	Author       string
	// Fields holds all other members, such as content and actions, unchanged. The
	// content of an event in progress is the content so far. Fields is shared
	// between copies and must not be modified.
	Fields map[string]json.RawMessage
}

// head holds the members of an event that have their own field.
type head struct {
	ID           string      `json:"id"`
	Seq          int64       `json:"seq"`
	SessionID    string      `json:"session_id"`
	Status       EventStatus `json:"status"`
	CreatedTime  int64       `json:"created_time"`
	InvocationID string      `json:"invocation_id"`
	Author       string      `json:"author"`
}

var errNoEvent = errors.New("an event requires an invocation_id and an author")

// UnmarshalJSON implements json.Unmarshaler. It fails if invocation_id or author is
// missing.
func (e *Event) UnmarshalJSON(raw []byte) error {
	var h head
	var fields map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &h), json.Unmarshal(raw, &fields)); err != nil {
		return fmt.Errorf("parse an event: %w", err)
	}
	if h.InvocationID == "" || h.Author == "" {
		return fmt.Errorf("parse event %.100q: %w", h.ID, errNoEvent)
	}
	for _, name := range []string{"id", "seq", "session_id", "status", "created_time", "invocation_id", "author"} {
		delete(fields, name)
	}
	*e = Event{h.ID, h.Seq, h.SessionID, h.Status, h.CreatedTime, h.InvocationID, h.Author, fields}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) {
	own, err := encode(head{e.ID, e.Seq, e.SessionID, e.Status, e.CreatedTime, e.InvocationID, e.Author})
	if err != nil || len(e.Fields) == 0 {
		return own, err
	}
	others, err := encode(e.Fields)
	if err != nil {
		return nil, err
	}
	return append(append(own[:len(own)-1], ','), others[1:]...), nil
}

// encode encodes v as JSON without escaping <, > and &.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
