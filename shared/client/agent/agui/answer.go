package agui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
)

// answer adds a tool's answer if the matching call is open.
func (t *turn) answer(part int, p transcript.Part) bool {
	at := transcript.FindCall(t.h.open, p.Response.ID, p.Response.Name)
	if at < 0 {
		return false
	}
	call := t.h.open[at]
	t.h.open = slices.Delete(slices.Clone(t.h.open), at, at+1)
	id := cmp.Or(t.record.message(part), t.id+":"+strconv.Itoa(part))
	t.h.messages = append(t.h.messages, message{
		ID: id, Role: roleTool, ToolCallID: call.ID, Content: t.resultText(p.Response.Response), EncryptedValue: t.h.encrypted[id],
	})
	t.result = len(t.h.messages)
	return true
}

// resultText returns a tool's result as the text that AG-UI has for it.
func (t *turn) resultText(response json.RawMessage) string {
	var wrapped struct{ Result json.RawMessage }
	var text string
	switch {
	case jsonx.IsNull(response):
		return "{}"
	case !t.record.Plain || json.Unmarshal(response, &wrapped) != nil:
		return string(response)
	case json.Unmarshal(wrapped.Result, &text) == nil:
		return text
	}
	return string(wrapped.Result)
}

func (t *turn) fromUser(p transcript.Part) {
	file, isFile := filePart(p)
	switch {
	case p.Thought || p.Text != nil && *p.Text == "":
	case isFile && t.result > 0 && t.record.Agent != "": // of the agent's tool
		t.addToResult(file)
	case isFile:
		t.parts = append(t.parts, file)
	case p.Text != nil:
		t.parts = append(t.parts, part{Type: "text", Text: *p.Text})
	case p.Response != nil:
		t.parts = append(t.parts, part{
			Type: "text", Text: fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response),
		})
	default:
		t.parts = append(t.parts, part{Type: "text", Text: p.InWords()})
	}
}

// addToResult adds a file to a tool's result.
func (t *turn) addToResult(file part) {
	m := &t.h.messages[t.result-1]
	if text, ok := m.Content.(string); ok {
		m.Content = []part{{Type: "text", Text: text}}
	}
	if parts, ok := m.Content.([]part); ok {
		m.Content = append(parts, file)
	}
}
