package convert

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	// InvocationKey is the metadata of every message that names the invocation
	// it belongs to: what a client rewinds before (seed 000).
	InvocationKey = "kagent_invocation_id"
	// RewindKey is the metadata of a message that asks for a rewind.
	RewindKey = "kagent_rewind_before_invocation_id"

	authorKey = "kagent_author"
	// field is the member of an event that keeps what its message had beside
	// its content.
	field = "a2a"
	// replyField is the member by which an agent says that its event is all
	// there is to say: a message, and no task.
	replyField = "a2a_reply"
)

// origin is what an event keeps of the message that it was.
type origin struct {
	MessageID  string         `json:"message_id"`
	TaskID     string         `json:"task_id"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Extensions []string       `json:"extensions,omitempty"`
	References []a2a.TaskID   `json:"reference_task_ids,omitempty"`
}

// Event is a user's message as the input of a run of the task.
func Event(m *a2a.Message, taskID string) (session.Event, error) {
	c := content{Role: "user", Parts: make([]part, 0, len(m.Parts))}
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
		field: origin{
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

// originOf is the message that an event was; false for any other event.
func originOf(e session.Event) (origin, bool) {
	var o origin
	raw, ok := e.Fields[field]
	if !ok || json.Unmarshal(raw, &o) != nil || o.MessageID == "" {
		return origin{}, false
	}
	return o, true
}

// TaskOf is the id of the A2A task that began with the event, or goes on with
// it; "" for an event that is no message of A2A.
func TaskOf(e session.Event) string {
	o, _ := originOf(e)
	return o.TaskID
}

func contentOf(e session.Event) content {
	var c content
	if raw := e.Fields["content"]; raw != nil && json.Unmarshal(raw, &c) != nil {
		return content{} // of another form than ours, which has nothing to show
	}
	return c
}

// Message is an event as a message of a task; nil where it has nothing to show.
func Message(e session.Event, taskID string) *a2a.Message {
	c := contentOf(e)
	m := &a2a.Message{
		ID: e.ID, ContextID: e.SessionID, TaskID: a2a.TaskID(taskID), Role: a2a.MessageRoleAgent, Metadata: map[string]any{},
	}
	for _, p := range c.Parts {
		if one := p.toPart(); one != nil {
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
	return m
}

// isInput reports whether an event is something that a user said.
func isInput(e session.Event) bool {
	_, said := originOf(e)
	return said || e.Author == "user"
}

// Artifact is what an event of an agent adds to what its task produced; nil for
// one that adds nothing.
func Artifact(e session.Event) *a2a.Artifact {
	if isInput(e) {
		return nil
	}
	out := &a2a.Artifact{ID: a2a.ArtifactID(e.ID), Metadata: map[string]any{InvocationKey: e.InvocationID}}
	for _, p := range contentOf(e).Parts {
		if !p.answers() {
			continue
		}
		if one := p.toPart(); one != nil {
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

// Steps reports whether an event tells how the agent came to its answer: it
// thinks, calls functions or hears of their results.
func Steps(e session.Event) bool {
	if isInput(e) {
		return false
	}
	for _, p := range contentOf(e).Parts {
		if !p.answers() {
			return true
		}
	}
	return false
}

// Reply is what an agent wants to be answered in place of a task: its only
// event, where that says {"a2a_reply": "message"}. nil for anything else.
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
