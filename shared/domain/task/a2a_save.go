package task

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
)

// whole is the member of a bubble that represents a whole A2A task: the task's data
// besides its id, its history and its metadata.
const whole = "a2a_task"

// a2aRest is the value of that member.
type a2aRest struct {
	Status    json.RawMessage `json:"status,omitempty"`
	Artifacts json.RawMessage `json:"artifacts,omitempty"`
}

// FromA2A converts a task in the form of the A2A protocol, version 0.3, to be
// saved: one bubble, which ToA2A converts back to the same task. The caller sets
// the user.
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
	if err := ids.CheckNew("/id", in.ID); err != nil {
		return Save{}, err
	}
	if err := ids.Check("/contextId", in.ContextID); err != nil {
		return Save{}, err
	}
	if err := checkShape(in.History, in.Status, in.Artifacts, in.Metadata); err != nil {
		return Save{}, err
	}
	if jsonx.IsNull(in.History) {
		in.History = json.RawMessage("[]")
	}
	rest, err := jsonx.Marshal(in.a2aRest)
	if err != nil {
		return Save{}, fmt.Errorf("write a task: %w", err)
	}
	bubbles, err := jsonx.Marshal([]members{{
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
	if s.Invocations, err = CheckedInvocations(bubbles); err != nil {
		return Save{}, err
	}
	return s, s.Task.CheckSize()
}

// asWhole fills in what a task that was saved as a whole had beside its
// history.
func (a *A2A) asWhole(bubbles json.RawMessage) {
	all := bubblesOf(bubbles)
	if len(all) != 1 || all[0][whole] == nil {
		return
	}
	rest := object(all[0][whole])
	status := object(rest["status"])
	a.Artifacts = rest["artifacts"]
	a.Status = A2AStatus{
		State: status.text("state"), Timestamp: status.text("timestamp"), Message: status["message"],
	}
}
