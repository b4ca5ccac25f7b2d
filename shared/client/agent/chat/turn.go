package chat

import (
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/client/agent/transcript"
)

// turn is one event's part of the chat. The answers of tools are not in it, because
// they are in messages of their own before it.
type turn struct {
	assistant bool
	system    bool // of the user's, with instructions
	parts     []contentPart
	calls     []toolCall
	open      []transcript.OpenCall
	thinking  string
	record    record
}

func (t *turn) add(h *history, p transcript.Part) {
	switch {
	case p.Thought && p.Text != nil:
		t.thinking += *p.Text
	case p.Thought:
	case p.Text != nil:
		t.text(*p.Text)
	case p.Call != nil && t.assistant:
		call := h.newCall(p.Call.ID, p.Call.Name, p.Call.Args)
		call.extra = t.record.call(len(t.calls))
		t.calls = append(t.calls, call)
		t.open = append(t.open, transcript.OpenCall{ID: call.ID, Name: p.Call.Name, Generated: p.Call.ID == ""})
	case p.Response != nil && h.answer(p.Response.ID, p.Response.Name, p.Response.Response):
	case p.Response != nil:
		t.text(fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response))
	case t.assistant || t.system || !t.attach(p):
		t.text(p.InWords())
	}
}

// attach adds an image or a document of the user's; it reports whether the part is one.
func (t *turn) attach(p transcript.Part) bool {
	if url := p.Image(); url != "" {
		t.parts = append(t.parts, contentPart{Type: "image_url", ImageURL: &imageURL{url}})
		return true
	}
	name, data, ok := p.Document(transcript.PDF)
	if ok {
		t.parts = append(t.parts, contentPart{Type: "file", File: &file{name, data}})
	}
	return ok
}

func (t *turn) text(s string) {
	if s != "" {
		t.parts = append(t.parts, contentPart{Type: "text", Text: s})
	}
}

// addThinking adds the thinking in the members in which the provider sent it.
func (t turn) addThinking(m *message) {
	switch t.record.Reasoning {
	case "reasoning_content":
		m.ReasoningContent = t.thinking
	case "reasoning":
		m.Reasoning = t.thinking
	}
	m.ReasoningDetails = t.record.ReasoningDetails
}

// content returns a string if there is only text, because every server accepts that.
func (t turn) content() any {
	if len(t.parts) == 0 {
		return nil
	}
	texts := make([]string, len(t.parts))
	for i, p := range t.parts {
		if p.Type != "text" {
			return t.parts
		}
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}
