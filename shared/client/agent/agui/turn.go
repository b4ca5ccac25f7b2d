package agui

import (
	"cmp"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
)

// turn is the messages of one event.
type turn struct {
	h      *history
	id     string // of the event
	record record

	messages []message
	open     []transcript.OpenCall
	parts    []part // of the user's message
	result   int    // index of a tool's message in the history, plus 1
}

// fromModel adds a part of a model's content. Thinking goes back only to the agent
// that thought it, since agents of older versions of AG-UI refuse such messages.
func (t *turn) fromModel(part int, p transcript.Part) {
	id := t.record.message(part)
	switch {
	case p.Thought && id != "" && p.Text != nil:
		t.messages = append(t.messages, message{
			ID: id, Role: roleReasoning, Content: *p.Text, EncryptedValue: t.h.encrypted[id],
		})
	case p.Thought || p.Text != nil && *p.Text == "":
	case p.Call != nil:
		t.addCall(id, p)
	case p.Text != nil:
		t.say(id, *p.Text)
	default:
		t.say(id, p.InWords())
	}
}

// assistant returns the message of a part: that with its id or, if it has none, the
// last one of the event.
func (t *turn) assistant(id string) *message {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if m := &t.messages[i]; m.Role == roleAssistant && (id == "" || m.ID == id) {
			return m
		}
	}
	id = cmp.Or(id, t.id)
	t.messages = append(t.messages, message{ID: id, Role: roleAssistant, EncryptedValue: t.h.encrypted[id]})
	return &t.messages[len(t.messages)-1]
}

func (t *turn) say(id, text string) {
	m := t.assistant(id)
	if before, ok := m.Content.(string); ok {
		text = before + "\n" + text
	}
	m.Content = text
}

func (t *turn) addCall(message string, p transcript.Part) {
	t.h.calls++
	id := cmp.Or(p.Call.ID, fmt.Sprintf("call_%d", t.h.calls))
	call := toolCall{ID: id, Type: "function", EncryptedValue: t.h.encrypted[id]}
	call.Function.Name, call.Function.Arguments = p.Call.Name, "{}"
	if !jsonx.IsNull(p.Call.Args) {
		call.Function.Arguments = string(p.Call.Args)
	}
	m := t.assistant(message)
	m.ToolCalls = append(m.ToolCalls, call)
	t.h.names[id] = p.Call.Name
	t.open = append(t.open, transcript.OpenCall{ID: id, Name: p.Call.Name, Generated: p.Call.ID == ""})
}

// end adds the messages of the turn to the history.
func (t *turn) end() {
	if len(t.parts) > 0 {
		t.messages = append(t.messages, message{ID: t.id, Role: roleUser, Content: contentOfUser(t.parts)})
	}
	if len(t.messages) == 0 {
		return
	}
	t.h.closeCalls()
	t.h.messages = append(t.h.messages, t.messages...)
	t.h.open = append(t.h.open, t.open...)
}

// contentOfUser returns a string if there is only text, because every version of
// AG-UI accepts that.
func contentOfUser(parts []part) any {
	text := ""
	for i, p := range parts {
		if p.Source != nil {
			return parts
		}
		if i > 0 {
			text += "\n"
		}
		text += p.Text
	}
	return text
}
