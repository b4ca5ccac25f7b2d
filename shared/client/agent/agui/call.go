package agui

import (
	"strings"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/content"
)

// call handles the events of tool calls.
func (r *reader) call(e event) error {
	delta, err := r.textOf(e.Delta)
	if err != nil {
		return err
	}
	chunk := strings.HasSuffix(e.Type, "_CHUNK")
	if chunk && e.ToolCallID == "" {
		e.ToolCallID = r.chunked[callPart]
	}
	key := partKey{callPart, e.ToolCallID}
	switch {
	case e.ToolCallID == "":
		return r.malformed("toolCallId is required")
	case e.Type == "TOOL_CALL_END":
		delete(r.item.open, key)
		return nil
	case chunk:
		r.chunked[callPart] = e.ToolCallID
	}
	if e.Type == "TOOL_CALL_START" || chunk && !r.begun[key] {
		return r.beginCall(key, e, delta, chunk)
	}
	if _, ok := r.item.parts[key]; !ok {
		return r.malformed("the tool call %q is not in progress", endpoint.Excerpt(e.ToolCallID))
	}
	if delta == "" {
		return nil
	}
	return r.say(key, e.ParentMessageID, content.Delta{Call: &content.CallDelta{ArgsText: delta}})
}

func (r *reader) beginCall(key partKey, e event, args string, chunk bool) error {
	switch {
	case e.ToolCallName == "":
		return r.malformed("toolCallName is required")
	case r.begun[key]:
		return r.malformed("the tool call %q has begun before", endpoint.Excerpt(e.ToolCallID))
	}
	r.begun[key], r.names[key.id] = true, e.ToolCallName
	if !chunk {
		r.item.open[key] = true
	}
	return r.say(key, e.ParentMessageID, content.Delta{Call: &content.CallDelta{ID: key.id, Name: e.ToolCallName, ArgsText: args}})
}
