package task

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/plainjson"
)

// whole is the member of a bubble that stands for an A2A task as a whole: what
// the task has beside its id, its history and its metadata.
const whole = "a2a_task"

// a2aRest is what that member holds.
type a2aRest struct {
	Status    json.RawMessage `json:"status,omitempty"`
	Artifacts json.RawMessage `json:"artifacts,omitempty"`
}

// FromA2A is a task in the form of the A2A protocol, version 0.3, to be saved:
// one bubble, which ToA2A shows as the same task again. The user is the
// caller's to fill in.
func FromA2A(raw json.RawMessage) (Save, error) {
	var in struct {
		ID        string          `json:"id"`
		ContextID string          `json:"contextId"`
		Snake     string          `json:"context_id"`
		History   json.RawMessage `json:"history"`
		Metadata  json.RawMessage `json:"metadata"`
		a2aRest
	}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || json.Unmarshal(raw, &in) != nil {
		return Save{}, fault.New(fault.Malformed, "the body must be a task of A2A 0.3")
	}
	if in.ContextID == "" {
		in.ContextID = in.Snake
	}
	if err := fault.CheckNewID("/id", in.ID); err != nil {
		return Save{}, err
	}
	if err := fault.CheckID("/contextId", in.ContextID); err != nil {
		return Save{}, err
	}
	if err := checkParts(&in.History, in.Status, in.Metadata); err != nil {
		return Save{}, err
	}
	rest, err := plainjson.Marshal(in.a2aRest)
	if err != nil {
		return Save{}, fmt.Errorf("write a task: %w", err)
	}
	bubbles, err := plainjson.Marshal([]members{{
		"id": quote(in.ID), "type": quote(AgentBubble), "history": in.History, whole: rest,
	}})
	if err != nil {
		return Save{}, fmt.Errorf("write a task: %w", err)
	}
	s := Save{SessionID: in.ContextID, Task: Task{
		ID: in.ID, SessionID: in.ContextID, Bubbles: bubbles, Metadata: in.Metadata, UserMessage: json.RawMessage("null"),
	}}
	if len(s.Task.Metadata) == 0 {
		s.Task.Metadata = json.RawMessage("null")
	}
	if s.Invocations, err = Invocations(bubbles); err != nil {
		return Save{}, err
	}
	return s, s.Task.CheckSize()
}

// checkParts checks the types of a task's members; no history is an empty one.
func checkParts(history *json.RawMessage, status, metadata json.RawMessage) error {
	var messages []members
	if json.Unmarshal(orNull(*history), &messages) != nil {
		return fault.Field(fault.Malformed, "/history", "must be an array of messages")
	}
	if messages == nil {
		*history = json.RawMessage("[]")
	}
	var object members
	if json.Unmarshal(orNull(status), &object) != nil || object.text("state") == "" {
		return fault.Field(fault.Malformed, "/status/state", "is required")
	}
	if json.Unmarshal(orNull(metadata), &object) != nil {
		return fault.Field(fault.Malformed, "/metadata", "must be an object")
	}
	return nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// asWhole fills in what a task that was saved as a whole had beside its
// history.
func (a *A2A) asWhole(bubbles json.RawMessage) error {
	var all []members
	if err := json.Unmarshal(bubbles, &all); err != nil {
		return fmt.Errorf("bubbles of task %s: %w", a.ID, err)
	}
	if len(all) != 1 || all[0][whole] == nil {
		return nil
	}
	var rest struct {
		Status    A2AStatus       `json:"status"`
		Artifacts json.RawMessage `json:"artifacts"`
	}
	if err := json.Unmarshal(all[0][whole], &rest); err != nil {
		return fmt.Errorf("task %s as a whole: %w", a.ID, err)
	}
	a.Status, a.Artifacts = rest.Status, rest.Artifacts
	return nil
}
