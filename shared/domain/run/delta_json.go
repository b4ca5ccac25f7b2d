package run

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// ParseDelta reads a delta as JSON; pointer is where it stands in what was
// sent. It refuses what could not be kept: members that no delta has, and text
// with half of a surrogate pair, for which UTF-8 has no bytes.
func ParseDelta(raw json.RawMessage, pointer string) (Delta, error) {
	var d Delta
	m, err := parseMembers(raw, pointer, "part", "text", "thought", "function_call")
	if err != nil {
		return Delta{}, err
	}
	part, ok := session.Integer(m.in["part"])
	if !ok {
		return Delta{}, fault.Field(fault.Malformed, pointer+"/part", "must be an integer")
	}
	d.Part = int(part)
	if err := m.take("thought", &d.Thought, "a boolean"); err != nil {
		return Delta{}, err
	}
	call, isCall := m.in["function_call"]
	if _, isText := m.in["text"]; isText == isCall {
		return Delta{}, fault.Field(fault.Malformed, pointer, "must have one of text and function_call")
	}
	if err := m.take("text", &d.Text, "a string"); err != nil {
		return Delta{}, err
	}
	if isCall {
		if d.Call, err = parseCall(call, pointer+"/function_call"); err != nil {
			return Delta{}, err
		}
	}
	return d, d.Validate(pointer)
}

func parseCall(raw json.RawMessage, pointer string) (*Call, error) {
	m, err := parseMembers(raw, pointer, "id", "name", "args_text")
	if err != nil {
		return nil, err
	}
	var c Call
	if err := m.take("id", &c.ID, "a string"); err != nil {
		return nil, err
	}
	if err := m.take("name", &c.Name, "a string"); err != nil {
		return nil, err
	}
	return &c, m.take("args_text", &c.ArgsText, "a string")
}

// UnmarshalJSON reads a delta as ParseDelta does.
func (d *Delta) UnmarshalJSON(raw []byte) error {
	parsed, err := ParseDelta(raw, "")
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// MarshalJSON is the delta as agents send it and watchers get it.
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

// partJSON is what a delta and a part of a content have in common.
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

// members are those of an object of which every one is known.
type members struct {
	at string
	in map[string]json.RawMessage
}

func parseMembers(raw json.RawMessage, pointer string, known ...string) (members, error) {
	m := members{at: pointer}
	switch {
	case !utf8.Valid(raw):
		return m, fault.Field(fault.Malformed, pointer, "must be valid UTF-8")
	case !isObject(raw) || json.Unmarshal(raw, &m.in) != nil:
		return m, fault.Field(fault.Malformed, pointer, "must be an object")
	case halvesPair(raw):
		return m, fault.Field(fault.Malformed, pointer, "must not hold half of a surrogate pair")
	}
	for _, name := range slices.Sorted(maps.Keys(m.in)) {
		if !slices.Contains(known, name) {
			return m, fault.Field(fault.Invalid, m.pointer(name), "is not known here")
		}
	}
	return m, nil
}

func (m members) pointer(name string) string { return m.at + "/" + session.EscapePointer(name) }

// take reads a member that may be absent, but not null.
func (m members) take(name string, into any, what string) error {
	raw, ok := m.in[name]
	if ok && (session.IsNull(raw) || json.Unmarshal(raw, into) != nil) {
		return fault.Field(fault.Malformed, m.pointer(name), "must be %s", what)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// halvesPair reports whether valid JSON escapes one half of a surrogate pair
// without the other, as programs do that cut text between UTF-16 code units.
// Decoders put U+FFFD for it: the character would be lost without a word.
func halvesPair(raw []byte) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return false
		}
		first, ok := escapedUnit(raw[i:])
		switch {
		case !ok:
			raw = raw[i+2:]
		case !utf16.IsSurrogate(first):
			raw = raw[i+6:]
		default:
			second, _ := escapedUnit(raw[i+6:])
			if utf16.DecodeRune(first, second) == utf8.RuneError {
				return true
			}
			raw = raw[i+12:]
		}
	}
}

// escapedUnit is the UTF-16 code unit of the escape \uXXXX that raw opens with.
func escapedUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit), err == nil
}
