package chat

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/client/agent/transcript"
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
	File     *file     `json:"file,omitempty"`
}

type file struct {
	Name string `json:"filename"`
	Data string `json:"file_data"` // a data URL
}

type imageURL struct {
	URL string `json:"url"`
}

// history builds a chat's messages. The API requires the answer of every tool call
// right after the call, and no answer without a call. A session need not satisfy
// that, so history adds and drops answers.
type history struct {
	chat     agentconfig.Chat
	messages []message
	open     []transcript.OpenCall // of the last assistant message, unanswered
	calls    int
	// interrupted is what was said of the answer to the last message, if the worker
	// was lost.
	interrupted transcript.Interruption
}

// messagesOf returns a request's history as a chat's messages. Events without
// content are left out, and so is thinking that the model does not get back.
func messagesOf(chat agentconfig.Chat, req run.Request) []message {
	h := history{chat: chat}
	if system := transcript.WithNotes(chat.System, req); system != "" {
		h.messages = append(h.messages, message{Role: "system", Content: system})
	}
	for _, e := range req.Events {
		h.add(e)
	}
	h.closeCalls()
	h.interrupted = transcript.InterruptionOf(req)
	for _, e := range req.Said {
		h.add(e)
	}
	h.closeCalls()
	return h.messages
}

func (h *history) add(e session.Event) {
	c := transcript.ContentOf(e)
	turn := turn{assistant: c.FromModel(e), system: c.InstructionsRole(e) != "", record: recordOf(e, h.chat.Model)}
	for _, p := range c.Parts {
		turn.add(h, p)
	}
	h.say(turn)
}

func (h *history) newCall(id, name string, args json.RawMessage) toolCall {
	h.calls++
	if id == "" {
		id = fmt.Sprintf("call_%d", h.calls)
	}
	call := toolCall{ID: id, Type: "function"}
	call.Function.Name, call.Function.Arguments = name, "{}"
	if !jsonx.IsNull(args) {
		call.Function.Arguments = provider.Arguments(args)
	}
	return call
}

// answer adds a tool's answer if the matching call is open.
func (h *history) answer(id, name string, response json.RawMessage) bool {
	i := transcript.FindCall(h.open, id, name)
	if i < 0 {
		return false
	}
	if jsonx.IsNull(response) {
		response = json.RawMessage("{}")
	}
	h.messages = append(h.messages, message{Role: "tool", ToolCallID: h.open[i].ID, Content: string(response)})
	h.open = append(h.open[:i:i], h.open[i+1:]...)
	return true
}

// closeCalls answers the calls that are still open, because the conversation
// continues.
func (h *history) closeCalls() {
	for _, call := range h.open {
		h.messages = append(h.messages, message{Role: "tool", ToolCallID: call.ID, Content: h.interrupted.ResultOf(call)})
	}
	h.open = nil
}

func (h *history) say(t turn) {
	if len(t.parts) == 0 && len(t.calls) == 0 {
		return
	}
	h.closeCalls()
	m := message{Role: "user", ToolCalls: t.calls}
	switch {
	case t.assistant:
		m.Role = "assistant"
	case t.system: // not "developer", which few providers know
		m.Role = "system"
	}
	if m.Content = t.content(); h.returnsThinking(t) {
		t.addThinking(&m)
	}
	h.open = t.open
	h.messages = append(h.messages, m)
}

// returnsThinking reports whether the model gets its thinking back with a turn.
func (h *history) returnsThinking(t turn) bool {
	return h.chat.Reasoning == agentconfig.Always || h.chat.Reasoning != agentconfig.Never && len(t.calls) > 0
}
