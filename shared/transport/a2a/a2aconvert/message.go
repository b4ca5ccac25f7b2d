package a2aconvert

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	// InvocationKey is the metadata of every message that names its invocation,
	// before which a client can rewind (seed 000).
	InvocationKey = "kagent_invocation_id"
	// RewindKey is the metadata of a message that requests a rewind.
	RewindKey = "kagent_rewind_before_invocation_id"

	authorKey = "kagent_author"
	// originField is the member of an event with the properties of its message
	// other than the content.
	originField = "a2a"
	// replyField is the member by which an agent declares its event the whole
	// answer: a message instead of a task.
	replyField = "a2a_reply"
)

// origin has the properties of the message that an event was created from.
type origin struct {
	MessageID  string         `json:"message_id"`
	TaskID     string         `json:"task_id"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Extensions []string       `json:"extensions,omitempty"`
	References []a2a.TaskID   `json:"reference_task_ids,omitempty"`
}

// Event converts a user's message to the input of a run of the task.
func Event(m *a2a.Message, taskID string) (session.Event, error) {
	c := content.Content{Role: "user", Parts: make([]content.Part, 0, len(m.Parts))}
	for i, p := range m.Parts {
		one, err := fromPart(p, "/message/parts/"+strconv.Itoa(i))
		if err != nil {
			return session.Event{}, err
		}
		c.Parts = append(c.Parts, one)
	}
	e := session.Event{Author: "user", Fields: map[string]json.RawMessage{}}
	for name, v := range map[string]any{
		"content": c,
		originField: origin{
			MessageID: m.ID, TaskID: taskID, Metadata: m.Metadata, Extensions: m.Extensions, References: m.ReferenceTasks,
		},
	} {
		raw, err := jsonx.Marshal(v)
		if err != nil {
			return session.Event{}, fmt.Errorf("encode the %s of a message: %w", name, err)
		}
		e.Fields[name] = raw
	}
	return e, nil
}

// originOf returns the message that an event was created from; false for any
// other event.
func originOf(e session.Event) (origin, bool) {
	var o origin
	raw, ok := e.Fields[originField]
	if !ok || jsonx.UnmarshalExact(raw, &o) != nil || o.MessageID == "" {
		return origin{}, false
	}
	return o, true
}

// TaskOf returns the id of the A2A task that the event begins or continues; ""
// if the event is not a message of A2A.
func TaskOf(e session.Event) string {
	o, _ := originOf(e)
	return o.TaskID
}

// contentOf returns the content of an event; one of an unknown form is not shown.
func contentOf(e session.Event) content.Content {
	c, ok := content.Parse(e.Fields["content"])
	if !ok {
		return content.Content{}
	}
	return c
}

// Message converts an event to a message of a task; nil if it has no visible
// content.
func Message(e session.Event, taskID string) *a2a.Message {
	c := contentOf(e)
	m := &a2a.Message{
		ID: e.ID, ContextID: e.SessionID, TaskID: a2a.TaskID(taskID), Role: a2a.MessageRoleAgent, Metadata: map[string]any{},
	}
	for _, p := range c.Parts {
		if one := toPart(p); one != nil {
			m.Parts = append(m.Parts, one)
		}
	}
	if len(m.Parts) == 0 {
		return nil
	}
	if c.Role == "user" && e.Author == "user" {
		m.Role = a2a.MessageRoleUser
	}
	if o, ok := originOf(e); ok {
		m.ID, m.Extensions, m.ReferenceTasks = o.MessageID, o.Extensions, o.References
		for name, v := range o.Metadata {
			m.SetMeta(name, v)
		}
	}
	m.SetMeta(InvocationKey, e.InvocationID)
	m.SetMeta(authorKey, e.Author)
	markLongRunning(m.Parts, declaredLongRunning(e))
	return m
}

// declaredLongRunning returns the ids of the calls that the agent itself
// declares long-running.
func declaredLongRunning(e session.Event) map[string]bool {
	ids := map[string]bool{}
	for _, id := range e.LongRunningCalls() {
		ids[id] = true
	}
	return ids
}

// isInput reports whether an event is a user's input.
func isInput(e session.Event) bool {
	_, isMessage := originOf(e)
	return isMessage || e.Author == "user"
}

// Artifact returns what an agent's event adds to the output of its task; nil if
// it adds nothing.
func Artifact(e session.Event) *a2a.Artifact {
	if isInput(e) {
		return nil
	}
	out := &a2a.Artifact{ID: a2a.ArtifactID(e.ID), Metadata: map[string]any{InvocationKey: e.InvocationID}}
	for _, p := range contentOf(e).Parts {
		if !isAnswer(p) {
			continue
		}
		if one := toPart(p); one != nil {
			out.Parts = append(out.Parts, one)
		}
	}
	if len(out.Parts) == 0 {
		return nil
	}
	if name := out.Parts[0].Filename; name != "" {
		out.Name = name
	}
	return out
}

// Steps reports whether an event has thoughts, function calls or their
// responses.
func Steps(e session.Event) bool {
	if isInput(e) {
		return false
	}
	for _, p := range contentOf(e).Parts {
		if !isAnswer(p) {
			return true
		}
	}
	return false
}

// Reply returns the message that an agent answers with instead of a task: its
// only event, if that has {"a2a_reply": "message"}. nil otherwise.
func Reply(events []session.Event) *a2a.Message {
	var only *session.Event
	for i, e := range events {
		if isInput(e) {
			continue
		}
		if only != nil {
			return nil
		}
		only = &events[i]
	}
	var kind string
	if only == nil || json.Unmarshal(only.Fields[replyField], &kind) != nil || kind != "message" {
		return nil
	}
	return Message(*only, "")
}
