package view

import (
	"encoding/json"
	"fmt"
)

// Delta is an addition to one part of an item's content: text, thinking or a piece
// of a function call.
type Delta struct {
	Part    int     `json:"part"` // index, from 0
	Thought bool    `json:"thought"`
	Text    *string `json:"text"` // nil if Call is set
	Call    *Call   `json:"function_call"`
}

// Call is a piece of a function call. ID and Name come with the first piece.
type Call struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	ArgsText string `json:"args_text"` // a piece of the arguments' JSON text
}

// content is the content of an item in progress, built from its deltas.
type content struct {
	role  string
	parts []*part
	size  int // bytes of all texts, ids and names
}

// part is text, thinking or a function call, as its first delta says.
type part struct {
	kind     partKind
	id, name string // of a function call
	text     []byte // of a function call, its arguments' JSON text
}

type partKind int

const (
	textPart partKind = iota
	thoughtPart
	callPart
)

func (d Delta) kind() partKind {
	switch {
	case d.Call != nil:
		return callPart
	case d.Thought:
		return thoughtPart
	}
	return textPart
}

// resume returns the content of a snapshot, to which deltas can be added; false if
// deltas cannot produce such content.
func resume(snapshot json.RawMessage) (*content, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(snapshot, &members) != nil || members == nil {
		return nil, false
	}
	c := &content{}
	for name, raw := range members {
		switch name {
		case "role":
			if raw[0] != '"' || json.Unmarshal(raw, &c.role) != nil {
				return nil, false
			}
		case "parts":
			var parts []*Delta // a part has the form of its first delta
			if raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
				return nil, false
			}
			for i, p := range parts {
				if p == nil {
					return nil, false
				}
				if p.Part = i; !c.add(*p) {
					return nil, false
				}
			}
		default:
			return nil, false
		}
	}
	return c, true
}

// add applies a delta. It returns false and changes nothing if the delta does not
// continue the content.
func (c *content) add(d Delta) bool {
	if (d.Text == nil) == (d.Call == nil) || d.Part < 0 || d.Part > len(c.parts) {
		return false
	}
	if d.Part == len(c.parts) {
		if d.Call != nil && d.Call.Name == "" {
			return false
		}
		c.begin(d)
	} else if c.parts[d.Part].kind != d.kind() || (d.Call != nil && d.Call.ID+d.Call.Name != "") {
		return false
	}
	var added string
	if d.Call != nil {
		added = d.Call.ArgsText
	} else {
		added = *d.Text
	}
	c.parts[d.Part].text = append(c.parts[d.Part].text, added...)
	c.size += len(added)
	return true
}

func (c *content) begin(d Delta) {
	p := &part{kind: d.kind()}
	if d.Call != nil {
		p.id, p.name = d.Call.ID, d.Call.Name
	}
	c.parts = append(c.parts, p)
	c.size += len(p.id) + len(p.name)
}

// shownPart is a part as returned by the API.
type shownPart struct {
	Thought bool       `json:"thought,omitempty"`
	Text    *string    `json:"text,omitempty"`
	Call    *shownCall `json:"function_call,omitempty"`
}

type shownCall struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	ArgsText string `json:"args_text"`
}

// snapshot returns the JSON of the content so far; function calls have args_text
// instead of args.
func (c *content) snapshot() json.RawMessage {
	out := struct {
		Role  string      `json:"role,omitempty"`
		Parts []shownPart `json:"parts"`
	}{c.role, make([]shownPart, len(c.parts))}
	for i, p := range c.parts {
		text := string(p.text)
		if p.kind == callPart {
			out.Parts[i].Call = &shownCall{p.id, p.name, text}
		} else {
			out.Parts[i] = shownPart{Thought: p.kind == thoughtPart, Text: &text}
		}
	}
	raw, err := encode(out)
	if err != nil { // impossible: out holds strings and booleans
		panic(fmt.Sprintf("encode a content: %v", err))
	}
	return raw
}
