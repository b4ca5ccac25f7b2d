package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// answer adds a tool's answer if the matching call is open.
func (t *aguiTurn) answer(part int, p contentMember) bool {
	at := findCall(t.h.open, p.Response.ID, p.Response.Name)
	if at < 0 {
		return false
	}
	call := t.h.open[at]
	t.h.open = slices.Delete(slices.Clone(t.h.open), at, at+1)
	id := cmp.Or(t.record.message(part), t.id+":"+strconv.Itoa(part))
	t.h.messages = append(t.h.messages, aguiMessage{
		ID: id, Role: aguiTool, ToolCallID: call.id, Content: t.resultText(p.Response.Response), EncryptedValue: t.h.encrypted[id],
	})
	t.result = len(t.h.messages)
	return true
}

// resultText returns a tool's result as the text that AG-UI has for it.
func (t *aguiTurn) resultText(response json.RawMessage) string {
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

func (t *aguiTurn) fromUser(p contentMember, raw json.RawMessage) {
	file, isFile := filePart(p)
	switch {
	case p.Thought || p.Text != nil && *p.Text == "":
	case isFile && t.result > 0 && t.record.Agent != "": // of the agent's tool
		t.addToResult(file)
	case isFile:
		t.parts = append(t.parts, file)
	case p.Text != nil:
		t.parts = append(t.parts, aguiPart{Type: "text", Text: *p.Text})
	case p.Response != nil:
		t.parts = append(t.parts, aguiPart{
			Type: "text", Text: fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response),
		})
	default:
		t.parts = append(t.parts, aguiPart{Type: "text", Text: inWords(p, raw)})
	}
}

// addToResult adds a file to a tool's result.
func (t *aguiTurn) addToResult(file aguiPart) {
	m := &t.h.messages[t.result-1]
	if text, ok := m.Content.(string); ok {
		m.Content = []aguiPart{{Type: "text", Text: text}}
	}
	if parts, ok := m.Content.([]aguiPart); ok {
		m.Content = append(parts, file)
	}
}
