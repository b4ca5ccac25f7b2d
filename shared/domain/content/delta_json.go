package content

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// ParseDelta parses a delta; pointer is its JSON pointer in the request. It refuses
// what could not be stored: unknown members, and text with an unpaired surrogate,
// which has no UTF-8 encoding.
func ParseDelta(raw json.RawMessage, pointer string) (Delta, error) {
	var d Delta
	m, err := parseMembers(raw, pointer, "part", "text", "thought", "function_call")
	if err != nil {
		return Delta{}, err
	}
	part, ok := jsonx.Integer(m.Members["part"])
	if !ok {
		return Delta{}, fault.Field(fault.Malformed, pointer+"/part", "must be an integer")
	}
	d.Part = int(part)
	if err := m.Take("thought", &d.Thought, "a boolean"); err != nil {
		return Delta{}, err
	}
	call, isCall := m.Members["function_call"]
	if _, isText := m.Members["text"]; isText == isCall {
		return Delta{}, fault.Field(fault.Malformed, pointer, "must have one of text and function_call")
	}
	if err := m.Take("text", &d.Text, "a string"); err != nil {
		return Delta{}, err
	}
	if isCall {
		if d.Call, err = parseCall(call, pointer+"/function_call"); err != nil {
			return Delta{}, err
		}
	}
	return d, d.Validate(pointer)
}

func parseCall(raw json.RawMessage, pointer string) (*CallDelta, error) {
	m, err := parseMembers(raw, pointer, "id", "name", "args_text")
	if err != nil {
		return nil, err
	}
	var c CallDelta
	if err := m.Take("id", &c.ID, "a string"); err != nil {
		return nil, err
	}
	if err := m.Take("name", &c.Name, "a string"); err != nil {
		return nil, err
	}
	return &c, m.Take("args_text", &c.ArgsText, "a string")
}

// UnmarshalJSON parses a delta like ParseDelta.
func (d *Delta) UnmarshalJSON(raw []byte) error {
	parsed, err := ParseDelta(raw, "")
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// MarshalJSON encodes the delta as agents send it and watchers get it.
func (d Delta) MarshalJSON() ([]byte, error) {
	out := struct {
		Part int `json:"part"`
		partJSON
	}{Part: d.Part}
	if d.Call == nil {
		out.Thought, out.Text = d.Thought, &d.Text
	} else {
		out.Call = &callJSON{ID: d.Call.ID, Name: d.Call.Name, ArgsText: &d.Call.ArgsText}
	}
	return jsonx.Marshal(out)
}

// partJSON is what deltas and parts of a content have in common.
type partJSON struct {
	Thought bool      `json:"thought,omitempty"`
	Text    *string   `json:"text,omitempty"`
	Call    *callJSON `json:"function_call,omitempty"`
}

// callJSON is a function call: with ArgsText while it grows, then with Args.
type callJSON struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	ArgsText *string         `json:"args_text,omitempty"`
}

// parseMembers parses an object whose members are all known.
func parseMembers(raw json.RawMessage, pointer string, known ...string) (jsonx.Object, error) {
	o, err := jsonx.ParseObject(raw, pointer)
	if err != nil {
		return o, err
	}
	if flaw := jsonx.Check(raw); flaw != nil {
		return o, fault.Field(fault.Malformed, pointer, "%s", flaw.Reason)
	}
	return o, o.Only(known...)
}
