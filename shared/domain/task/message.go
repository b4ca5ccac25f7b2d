package task

import (
	"encoding/json"
	"strings"
)

// Message is one bubble of a task in the flat form of older clients.
type Message struct {
	ID          string `json:"id"`
	SessionID   string `json:"session_id"`
	Message     string `json:"message"`
	SenderType  string `json:"sender_type"` // the type of the bubble
	CreatedTime int64  `json:"created_time"`
}

// members are the members of one JSON object. Bubbles are stored as received: a
// member of an unexpected form reads as empty.
type members map[string]json.RawMessage

func (m members) text(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

// bubblesOf returns the bubbles that are objects; others cannot be shown.
func bubblesOf(raw json.RawMessage) []members {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	out := make([]members, 0, len(all))
	for _, one := range all {
		if m := object(one); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// Messages returns the bubbles of a task, one message each.
func (t Task) Messages() []Message {
	bubbles := bubblesOf(t.Bubbles)
	messages := make([]Message, 0, len(bubbles))
	for _, b := range bubbles {
		messages = append(messages, Message{
			ID: b.text("id"), SessionID: t.SessionID, Message: b.words(), SenderType: b.text("type"),
			CreatedTime: t.CreatedTime,
		})
	}
	return messages
}

// words returns the bubble's text, that of its text parts if it has none, or the
// name of the artifact that it announces.
func (m members) words() string {
	if text := m.text("text"); text != "" {
		return text
	}
	var parts []json.RawMessage
	var all strings.Builder
	if json.Unmarshal(m["parts"], &parts) == nil {
		for _, raw := range parts {
			all.WriteString(object(raw).text("text"))
		}
	}
	if all.Len() == 0 {
		return object(m["artifactNotification"]).text("name")
	}
	return all.String()
}

// object returns the members of a value, nil if it is not an object.
func object(raw json.RawMessage) members {
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}
