package task

import (
	"encoding/json"
	"fmt"
	"time"
)

// A2A is a task in the form of the A2A protocol, version 0.3, as kagent's clients
// read it.
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

// ToA2A returns a task in A2A form.
func ToA2A(t Task) (A2A, error) {
	out := A2A{
		Kind: "task", ID: t.ID, ContextID: t.SessionID, Metadata: t.Metadata,
		Status: A2AStatus{State: a2aState(t.Metadata), Timestamp: stamp(t.UpdatedTime)},
	}
	var err error
	if out.History, err = t.history(out.ID); err != nil {
		return A2A{}, err
	}
	out.asWhole(t.Bubbles)
	return out, nil
}

// Merge merges what a fork took over into one completed task: the history of these
// tasks, without duplicate messages, with the ids of the fork. Its id is the
// fork's, as for the task that a rewind answers with: it represents what a session
// showed when it was cut. It exists even if it is empty. The time is in epoch
// milliseconds.
func Merge(sessionID string, at int64, tasks []A2A) (A2A, error) {
	merged := A2A{
		Kind: "task", ID: sessionID, ContextID: sessionID, History: []json.RawMessage{},
		Status: A2AStatus{State: "completed", Timestamp: stamp(at)},
	}
	seen := map[string]bool{}
	for _, t := range tasks {
		for _, raw := range t.History {
			m := object(raw)
			name := m.text("messageId")
			if m == nil || seen[name] {
				continue
			}
			seen[name] = name != ""
			own, err := m.message(sessionID, merged.ID)
			if err != nil {
				return A2A{}, err
			}
			merged.History = append(merged.History, own)
		}
	}
	return merged, nil
}

func stamp(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339Nano) }

// history returns the messages of a task: one for each bubble, or the messages of
// the histories that its bubbles contain.
func (t Task) history(taskID string) ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	for _, b := range bubblesOf(t.Bubbles) {
		var held []members
		if json.Unmarshal(b["history"], &held) == nil && (len(held) > 0 || b[whole] != nil) {
			for _, m := range held {
				if m == nil {
					continue // null is not a message
				}
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

// message returns a message of a history, in the spelling of the wire and with the
// ids of the session that shows it. Its other members are unchanged.
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

// a2aState returns the protocol's state for the status in a task's metadata.
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
