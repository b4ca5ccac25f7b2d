package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// message is one message of a chat. Content is a string or []contentPart.
type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`

	ReasoningContent string            `json:"reasoning_content,omitempty"`
	Reasoning        string            `json:"reasoning,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
}

type contentPart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// history builds a chat's messages. The API requires the answer of every tool call
// right after the call, and no answer without a call. A session need not satisfy
// that, so history adds and drops answers.
type history struct {
	chat     Chat
	messages []message
	open     []openCall // of the last assistant message, unanswered
	calls    int
	// interrupted is what was said of the answer to the last message, if the worker
	// was lost.
	interrupted interruption
}

// truncatedNote tells a model that it does not have the whole conversation.
const truncatedNote = "The beginning of this conversation is left out."

// messagesOf returns a request's history as a chat's messages. Events without
// content are left out, and so is thinking that the model does not get back.
func messagesOf(chat Chat, req run.Request) ([]message, error) {
	h := history{chat: chat}
	if system := withNotes(chat.System, req); system != "" {
		h.messages = append(h.messages, message{Role: "system", Content: system})
	}
	for _, e := range req.Events {
		if err := h.add(e); err != nil {
			return nil, fmt.Errorf("event %d of the history: %w", e.Seq, err)
		}
	}
	h.closeCalls()
	h.interrupted = interruptionOf(req)
	for _, e := range req.Said {
		if err := h.add(e); err != nil {
			return nil, fmt.Errorf("what was said at %d: %w", e.Seq, err)
		}
	}
	h.closeCalls()
	return h.messages, nil
}

// withNotes returns the instructions of a model, which say so if it does not
// have the whole conversation, or if its answer was interrupted.
func withNotes(system string, req run.Request) string {
	if req.Truncated {
		system = strings.TrimSpace(system + "\n\n" + truncatedNote)
	}
	if req.Continuation > 0 {
		system = strings.TrimSpace(system + "\n\n" + interruptedNote(req))
	}
	return system
}

func (h *history) add(e session.Event) error {
	c, err := contentOf(e)
	if err != nil {
		return err
	}
	turn := turn{assistant: c.fromModel(e), record: recordOf(e, h.chat.Model)}
	for _, raw := range c.Parts {
		turn.add(h, memberOf(raw), raw)
	}
	h.say(turn)
	return nil
}

// turn is one event's part of the chat. The answers of tools are not in it, because
// they are in messages of their own before it.
type turn struct {
	assistant bool
	parts     []contentPart
	calls     []toolCall
	open      []openCall
	thinking  string
	record    chatRecord
}

func (t *turn) add(h *history, p contentMember, raw json.RawMessage) {
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
		t.open = append(t.open, openCall{call.ID, p.Call.Name, p.Call.ID == ""})
	case p.Response != nil && h.answer(p.Response.ID, p.Response.Name, p.Response.Response):
	case p.Response != nil:
		t.text(fmt.Sprintf("[response of %s: %s]", p.Response.Name, p.Response.Response))
	case p.Inline != nil && !t.assistant && strings.HasPrefix(p.Inline.MimeType, "image/"):
		t.parts = append(t.parts, contentPart{Type: "image_url", ImageURL: &imageURL{dataURL(p.Inline.MimeType, p.Inline.Data)}})
	default:
		t.text(inWords(p, raw))
	}
}

func (t *turn) text(s string) {
	if s != "" {
		t.parts = append(t.parts, contentPart{Type: "text", Text: s})
	}
}

func (h *history) newCall(id, name string, args json.RawMessage) toolCall {
	h.calls++
	if id == "" {
		id = fmt.Sprintf("call_%d", h.calls)
	}
	call := toolCall{ID: id, Type: "function"}
	call.Function.Name, call.Function.Arguments = name, "{}"
	if !jsonx.IsNull(args) {
		call.Function.Arguments = string(args)
	}
	return call
}

// answer adds a tool's answer if the matching call is open.
func (h *history) answer(id, name string, response json.RawMessage) bool {
	i := findCall(h.open, id, name)
	if i < 0 {
		return false
	}
	if jsonx.IsNull(response) {
		response = json.RawMessage("{}")
	}
	h.messages = append(h.messages, message{Role: "tool", ToolCallID: h.open[i].id, Content: string(response)})
	h.open = append(h.open[:i:i], h.open[i+1:]...)
	return true
}

// closeCalls answers the calls that are still open, because the conversation
// continues.
func (h *history) closeCalls() {
	for _, call := range h.open {
		h.messages = append(h.messages, message{Role: "tool", ToolCallID: call.id, Content: h.interrupted.resultOf(call)})
	}
	h.open = nil
}

func (h *history) say(t turn) {
	if len(t.parts) == 0 && len(t.calls) == 0 {
		return
	}
	h.closeCalls()
	m := message{Role: "user", ToolCalls: t.calls}
	if t.assistant {
		m.Role = "assistant"
	}
	if m.Content = t.content(); h.returnsThinking(t) {
		t.addThinking(&m)
	}
	h.open = t.open
	h.messages = append(h.messages, m)
}

// returnsThinking reports whether the model gets its thinking back with a turn.
func (h *history) returnsThinking(t turn) bool {
	return h.chat.Reasoning == Always || h.chat.Reasoning != Never && len(t.calls) > 0
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
		if p.ImageURL != nil {
			return t.parts
		}
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}
