package agent

import (
	"strings"

	"github.com/rethread/rethread/shared/domain/run"
)

// call handles the events of tool calls.
func (r *aguiReader) call(e aguiEvent) error {
	delta, err := r.textOf(e.Delta)
	if err != nil {
		return err
	}
	chunk := strings.HasSuffix(e.Type, "_CHUNK")
	if chunk && e.ToolCallID == "" {
		e.ToolCallID = r.chunked[callPart]
	}
	key := aguiKey{callPart, e.ToolCallID}
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
		return r.malformed("the tool call %q is not in progress", clean(e.ToolCallID, maxExcerpt))
	}
	if delta == "" {
		return nil
	}
	return r.say(key, e.ParentMessageID, run.Delta{Call: &run.Call{ArgsText: delta}})
}

func (r *aguiReader) beginCall(key aguiKey, e aguiEvent, args string, chunk bool) error {
	switch {
	case e.ToolCallName == "":
		return r.malformed("toolCallName is required")
	case r.begun[key]:
		return r.malformed("the tool call %q has begun before", clean(e.ToolCallID, maxExcerpt))
	}
	r.begun[key], r.names[key.id] = true, e.ToolCallName
	if !chunk {
		r.item.open[key] = true
	}
	return r.say(key, e.ParentMessageID, run.Delta{Call: &run.Call{ID: key.id, Name: e.ToolCallName, ArgsText: args}})
}
