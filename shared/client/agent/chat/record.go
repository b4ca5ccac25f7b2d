package chat

import (
	"encoding/json"
	"maps"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/domain/session"
)

// recordMember is the member of an event with a record.
const recordMember = "chat_completions"

// record is what an event keeps of a completion besides its content: members
// that only the provider understands, such as signatures of thoughts. The same
// model gets them back with the history, as some models require.
type record struct {
	Model string `json:"model"`
	// Reasoning is the member of the message that contained the thinking.
	Reasoning string `json:"reasoning,omitempty"`
	// ReasoningDetails are OpenRouter's, in the order of their arrival.
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	// ToolCalls has the unknown members of each function call, in the order of the
	// calls; nil if no call has any.
	ToolCalls []map[string]json.RawMessage `json:"tool_calls,omitempty"`
	// Content has the parts of a list of unknown types.
	Content []json.RawMessage `json:"content,omitempty"`
}

// recordOf returns the record of an event if it is of this model.
func recordOf(e session.Event, model string) record {
	var r record
	if raw := e.Fields[recordMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil || r.Model != model {
		return record{} // of another model, or somebody else's member of that name
	}
	return r
}

func (r record) isEmpty() bool {
	return r.Reasoning == "" && len(r.ReasoningDetails) == 0 && len(r.ToolCalls) == 0 && len(r.Content) == 0
}

// call returns the unknown members of the call with an index.
func (r record) call(i int) map[string]json.RawMessage {
	if i < len(r.ToolCalls) {
		return r.ToolCalls[i]
	}
	return nil
}

// toolCall is a tool call of a message, or a piece of one in a stream.
type toolCall struct {
	Index    *int
	ID       string
	Type     string
	Function calledFunction
	// extra contains all other members; those of the function are an object there.
	extra map[string]json.RawMessage
}

type calledFunction struct {
	Name      string             `json:"name"`
	Arguments provider.Arguments `json:"arguments"`
}

// knownCall is a tool call without the members that only the provider understands.
type knownCall struct {
	Index    *int           `json:"index,omitempty"`
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function calledFunction `json:"function"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *toolCall) UnmarshalJSON(raw []byte) error {
	var known knownCall
	if err := json.Unmarshal(raw, &known); err != nil {
		return err
	}
	extra, err := jsonx.MembersBut(raw, "index", "id", "type", "function")
	if err != nil {
		return err
	}
	var function struct {
		Function json.RawMessage `json:"function"`
	}
	if err := json.Unmarshal(raw, &function); err != nil {
		return err
	}
	inFunction, err := jsonx.MembersBut(function.Function, "name", "arguments")
	if err != nil {
		return err
	}
	if len(inFunction) > 0 {
		if extra["function"], err = jsonx.Marshal(inFunction); err != nil {
			return err
		}
	}
	*c = toolCall{known.Index, known.ID, known.Type, known.Function, extra}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (c toolCall) MarshalJSON() ([]byte, error) {
	raw, err := jsonx.Marshal(knownCall{c.Index, c.ID, c.Type, c.Function})
	if err != nil || len(c.extra) == 0 {
		return raw, err
	}
	out := maps.Clone(c.extra)
	function := map[string]json.RawMessage{}
	if more := out["function"]; more != nil {
		if json.Unmarshal(more, &function) != nil {
			function = map[string]json.RawMessage{} // somebody else's member of that name
		}
	}
	var known, knownFunction map[string]json.RawMessage
	if err := json.Unmarshal(raw, &known); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(known["function"], &knownFunction); err != nil {
		return nil, err
	}
	maps.Copy(out, known)
	maps.Copy(function, knownFunction)
	if out["function"], err = jsonx.Marshal(function); err != nil {
		return nil, err
	}
	return jsonx.Marshal(out)
}
