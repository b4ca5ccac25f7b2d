package run

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// FrontEndMember is the member of an input event with what its front end offers.
const FrontEndMember = "ag_ui_input"

// FrontEnd is what a front end sends an agent besides its input. Tools, context and
// forwarded properties are as AG-UI defines them, the rest as the Responses API does.
type FrontEnd struct {
	Tools   []json.RawMessage `json:"tools,omitempty"`   // whose calls the next input answers
	Context []json.RawMessage `json:"context,omitempty"` // descriptions and values
	// ForwardedProps is any JSON.
	ForwardedProps json.RawMessage `json:"forwarded_props,omitempty"`

	Instructions      string          `json:"instructions,omitempty"` // for this run only
	ToolChoice        json.RawMessage `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls,omitempty"`
	// Parameters are further members of a request, such as temperature, reasoning and
	// text; only those that the caller sent.
	Parameters map[string]json.RawMessage `json:"parameters,omitempty"`
}

// FrontEndTool is a tool of a front end.
type FrontEndTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema
	// Strict is whether calls must satisfy the schema; nil leaves it to the model's API.
	Strict *bool `json:"strict,omitempty"`
}

// Parameter returns a parameter by its name in a request of the Responses API, with a
// dot before the member of an object, such as "text.format"; nil if the caller did not
// send it.
func (f FrontEnd) Parameter(name string) json.RawMessage {
	raw, member, nested := f.Parameters[name], "", false
	switch name {
	case "tool_choice":
		raw = f.ToolChoice
	case "parallel_tool_calls":
		if raw = nil; f.ParallelToolCalls != nil {
			raw = strconv.AppendBool(nil, *f.ParallelToolCalls)
		}
	default:
		if name, member, nested = strings.Cut(name, "."); nested {
			raw = memberOf(f.Parameters[name], member)
		}
	}
	if jsonx.IsNull(raw) {
		return nil
	}
	return raw
}

func memberOf(raw json.RawMessage, name string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members[name]
}

// FrontEnd returns what the front end offers with the run's input: nothing if the last
// event of the input has no such member, or one of another shape.
func (r Request) FrontEnd() FrontEnd {
	for _, e := range slices.Backward(r.Events) {
		if e.InvocationID != r.RunID {
			break
		}
		var f FrontEnd
		if e.Author == "user" && json.Unmarshal(e.Fields[FrontEndMember], &f) == nil {
			return f
		}
	}
	return FrontEnd{}
}

// Functions returns the tools that have a name, each with a schema, and as it was given.
// Those in known, which the agent has already, are left out.
func (f FrontEnd) Functions(known map[string]bool) (tools []FrontEndTool, given []json.RawMessage) {
	seen := map[string]bool{}
	for _, raw := range f.Tools {
		var t FrontEndTool
		if json.Unmarshal(raw, &t) != nil || t.Name == "" || known[t.Name] || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		if !jsonx.IsObject(t.Parameters) {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		tools, given = append(tools, t), append(given, raw)
	}
	return tools, given
}
