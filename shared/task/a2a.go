package task

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A2A is a task in the form of the A2A protocol, version 0.3, as kagent's
// clients read it (seeds 000 and 004).
type A2A struct {
	Kind      string            `json:"kind"`
	ID        string            `json:"id"`
	ContextID string            `json:"contextId"`
	Status    A2AStatus         `json:"status"`
	History   []json.RawMessage `json:"history"`
	Artifacts json.RawMessage   `json:"artifacts,omitempty"`
	Metadata  json.RawMessage   `json:"metadata,omitempty"`
}

// A2AStatus is the state of an A2A task. Timestamp is RFC 3339.
type A2AStatus struct {
	State     string          `json:"state"`
	Message   json.RawMessage `json:"message,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
}

type a2aMessage struct {
	Kind      string          `json:"kind"`
	MessageID string          `json:"messageId"`
	Role      string          `json:"role"`
	Parts     json.RawMessage `json:"parts"`
	ContextID string          `json:"contextId"`
	TaskID    string          `json:"taskId"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// ToA2A is the tasks of a session in A2A form. What a fork took over is one
// completed task, whose history is that of all of them with each message once
// (seed 004); it is there even when it is empty.
func ToA2A(sessionID string, fork bool, tasks []Task) ([]A2A, error) {
	out := []A2A{}
	if fork {
		merged, err := merge(sessionID, tasks)
		if err != nil {
			return nil, err
		}
		out = append(out, merged)
	}
	for _, t := range tasks {
		if t.TakenOver {
			continue
		}
		one := A2A{
			Kind: "task", ID: t.ID, ContextID: sessionID, Metadata: t.Metadata,
			Status: A2AStatus{
				State:     a2aState(t.Metadata),
				Timestamp: time.UnixMilli(t.UpdatedTime).UTC().Format(time.RFC3339Nano),
			},
		}
		var err error
		if one.History, err = t.history(one.ID); err != nil {
			return nil, err
		}
		if err := one.asWhole(t.Bubbles); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func merge(sessionID string, tasks []Task) (A2A, error) {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("history of "+sessionID)).String()
	merged := A2A{
		Kind: "task", ID: id, ContextID: sessionID, Status: A2AStatus{State: "completed"}, History: []json.RawMessage{},
	}
	seen := map[string]bool{}
	for _, t := range tasks {
		if !t.TakenOver {
			continue
		}
		history, err := t.history(id)
		if err != nil {
			return A2A{}, err
		}
		for _, raw := range history {
			m := object(raw)
			if name := m.text("messageId"); name == "" || !seen[name] {
				seen[name] = true
				merged.History = append(merged.History, raw)
			}
		}
	}
	return merged, nil
}

// history is the messages of a task: a bubble each, or the messages of the
// histories that its bubbles hold.
func (t Task) history(taskID string) ([]json.RawMessage, error) {
	var bubbles []members
	if err := json.Unmarshal(t.Bubbles, &bubbles); err != nil {
		return nil, fmt.Errorf("bubbles of task %s: %w", t.ID, err)
	}
	out := []json.RawMessage{}
	for _, b := range bubbles {
		var held []members
		if json.Unmarshal(b["history"], &held) == nil && (len(held) > 0 || b[whole] != nil) {
			for _, m := range held {
				raw, err := m.message(t.SessionID, taskID)
				if err != nil {
					return nil, err
				}
				out = append(out, raw)
			}
			continue
		}
		raw, err := b.bubbleMessage(t.SessionID, taskID)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// message is a message of a history, in the spelling of the wire and with the
// ids of the session that shows it. Its other members stay.
func (m members) message(sessionID, taskID string) (json.RawMessage, error) {
	for snake, camel := range map[string]string{
		"message_id": "messageId", "context_id": "contextId", "task_id": "taskId",
	} {
		if v, ok := m[snake]; ok && m[camel] == nil {
			m[camel] = v
		}
		delete(m, snake)
	}
	m["contextId"], m["taskId"] = quote(sessionID), quote(taskID)
	if m["kind"] == nil {
		m["kind"] = quote("message")
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	return raw, nil
}

func (m members) bubbleMessage(sessionID, taskID string) (json.RawMessage, error) {
	role := "agent"
	if m.text("type") == UserBubble {
		role = "user"
	}
	parts := m["parts"]
	if parts == nil {
		var err error
		if parts, err = json.Marshal([]map[string]string{{"kind": "text", "text": m.words()}}); err != nil {
			return nil, fmt.Errorf("write the parts of a message: %w", err)
		}
	}
	raw, err := json.Marshal(a2aMessage{
		Kind: "message", MessageID: m.text("id"), Role: role, Parts: parts,
		ContextID: sessionID, TaskID: taskID, Metadata: m["metadata"],
	})
	if err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	return raw, nil
}

// a2aState is the protocol's word for the status in a task's metadata.
func a2aState(metadata json.RawMessage) string {
	switch object(metadata).text("status") {
	case "error", "failed":
		return "failed"
	case "cancelled", "canceled":
		return "canceled"
	case "pending", "working":
		return "working"
	}
	return "completed"
}

func quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}
