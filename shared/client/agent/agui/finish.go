package agui

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// outcome is how a run of the agent ended.
type outcome struct {
	Type       string                       `json:"type"`
	Interrupts []map[string]json.RawMessage `json:"interrupts"`
}

// finish ends the run as RUN_FINISHED says.
func (r *reader) finish() error {
	var outcome outcome
	if raw := r.finished.Outcome; !jsonx.IsNull(raw) && json.Unmarshal(raw, &outcome) != nil {
		return r.malformed("the outcome must be an object with a type")
	}
	if err := r.takeSnapshot(); err != nil {
		return err
	}
	interrupted := outcome.Type == "interrupt"
	r.pending.Result = r.finished.Result
	r.usage = r.finished.Usage
	if err := r.complete(!interrupted); err != nil {
		return err
	}
	switch {
	case outcome.Type == "cancelled":
		return endpoint.NewError(endpoint.CodeAgentCancelled, "the agent cancelled the run")
	case interrupted:
		if err := r.ask(outcome.Interrupts); err != nil {
			return err
		}
	}
	if err := r.rest(); err != nil {
		return err
	}
	return r.out.Finish()
}

// ask emits the interrupts as long-running calls, which the user answers.
func (r *reader) ask(interrupts []map[string]json.RawMessage) error {
	record := r.pending
	record.Thread = r.thread
	var parts []content.Part
	for _, members := range interrupts {
		var id string
		if json.Unmarshal(members["id"], &id) != nil || id == "" {
			return r.malformed("an interrupt needs an id")
		}
		delete(members, "id")
		args, err := jsonx.Marshal(members)
		if err != nil {
			return fmt.Errorf("encode an interrupt: %w", err)
		}
		parts = append(parts, content.Part{Call: &content.Call{ID: id, Name: interruptCall, Args: args}})
		record.Interrupts = append(record.Interrupts, id)
	}
	if len(parts) == 0 {
		return r.malformed("an interrupted run needs interrupts")
	}
	return r.event(map[string]any{
		"content": content.Content{Role: "model", Parts: parts}, "long_running_tool_ids": record.Interrupts,
	}, record)
}

// rest emits what no event has yet. A run may have nothing to say; it has an empty item
// then.
func (r *reader) rest() error {
	if r.out.Items() == 0 {
		if err := r.out.Begin(run.ItemStart{}); err != nil {
			return err
		}
		return r.complete(true)
	}
	if r.pending.isEmpty() && jsonx.IsNull(r.usage) && len(r.state.change()) == 0 {
		return nil
	}
	return r.event(map[string]any{}, r.pending)
}
