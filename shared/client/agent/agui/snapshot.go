package agui

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// parsedMessage is a message of a snapshot.
type parsedMessage struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []toolCall      `json:"toolCalls"`
	ToolCallID string          `json:"toolCallId"`
}

// takeSnapshot takes from the last snapshot of the conversation the messages of this
// run that were not streamed: agents whose model does not stream have them only there.
// They come after the last message of the request. The rest is ignored, because the
// session's log is not rewritten.
func (r *reader) takeSnapshot() error {
	if jsonx.IsNull(r.snapshot) {
		return nil
	}
	var messages []parsedMessage
	if json.Unmarshal(r.snapshot, &messages) != nil {
		return r.malformed("a snapshot's messages must be a list of messages")
	}
	last := -1
	for i, m := range slices.Backward(messages) {
		if r.sent[m.ID] {
			last = i
			break
		}
	}
	if last < 0 {
		return nil
	}
	for _, m := range messages[last+1:] {
		if err := r.takeMessage(m); err != nil {
			return err
		}
	}
	return nil
}

// takeMessage takes a message that was not streamed.
func (r *reader) takeMessage(m parsedMessage) error {
	switch {
	case m.Role == roleTool && !r.done[m.ToolCallID]:
		return r.result(event{MessageID: m.ID, ToolCallID: m.ToolCallID, Content: m.Content})
	case m.Role != roleAssistant:
		return nil
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil && !r.begun[partKey{textPart, m.ID}] {
		if err := r.text(event{Type: "TEXT_MESSAGE_CHUNK", MessageID: m.ID, Delta: m.Content}); err != nil {
			return err
		}
	}
	for _, call := range m.ToolCalls {
		if r.begun[partKey{callPart, call.ID}] {
			continue
		}
		args, err := jsonx.Marshal(call.Function.Arguments)
		if err != nil {
			return err
		}
		begun := event{
			Type: "TOOL_CALL_CHUNK", ToolCallID: call.ID, ToolCallName: call.Function.Name, ParentMessageID: m.ID, Delta: args,
		}
		if err := r.call(begun); err != nil {
			return err
		}
	}
	return nil
}
