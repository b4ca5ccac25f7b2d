package task

import (
	"encoding/json"
	"fmt"
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

// members are those of one JSON object. Bubbles are kept as they came: what has
// another form than usual reads as empty.
type members map[string]json.RawMessage

func (m members) text(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

// Messages are the bubbles of a task, one message each.
func (t Task) Messages() ([]Message, error) {
	var bubbles []members
	if err := json.Unmarshal(t.Bubbles, &bubbles); err != nil {
		return nil, fmt.Errorf("bubbles of task %s: %w", t.ID, err)
	}
	messages := make([]Message, 0, len(bubbles))
	for _, b := range bubbles {
		messages = append(messages, Message{
			ID: b.text("id"), SessionID: t.SessionID, Message: b.words(), SenderType: b.text("type"),
			CreatedTime: t.CreatedTime,
		})
	}
	return messages, nil
}

// words is the bubble's text, that of its text parts where it has none, or the
// name of the artifact that it tells of.
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

// object is what a value holds, nothing where it is no object.
func object(raw json.RawMessage) members {
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}
