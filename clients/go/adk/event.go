package adk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	rethread "github.com/rethread/rethread/clients/go"
)

// inProgress is the status of an event that is still being produced.
const inProgress = "in_progress"

// storedEvent is an event of the log: the members needed here, and the whole JSON in
// raw, because ADK's events must not lose anything.
type storedEvent struct {
	ID          string          `json:"id"`
	Seq         int64           `json:"seq"`
	Status      string          `json:"status"`
	CreatedTime rethread.Time   `json:"created_time"`
	Author      string          `json:"author"`
	Content     json.RawMessage `json:"content"`
	Timestamp   json.RawMessage `json:"timestamp"` // nil if the client that appended the event sent none
	Actions     struct {
		StateDelta map[string]json.RawMessage `json:"state_delta"`
	} `json:"actions"`

	raw json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *storedEvent) UnmarshalJSON(raw []byte) error {
	if isNull(raw) {
		return errors.New("decode an event: it is null")
	}
	type members storedEvent
	if err := json.Unmarshal(raw, (*members)(e)); err != nil {
		return fmt.Errorf("decode an event: %w", err)
	}
	e.raw = bytes.Clone(raw)
	return nil
}

// isInitialState reports whether an event holds the state that a session was
// created with. ADK has no such event, and its own events have a timestamp.
func (e *storedEvent) isInitialState() bool {
	return e.Seq == 1 && e.Author == "system" && e.Timestamp == nil && isNull(e.Content) && len(e.Actions.StateDelta) > 0
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
