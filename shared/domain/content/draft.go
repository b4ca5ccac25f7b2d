package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Draft is the content of an event as built from its deltas. Appending a delta
// costs time proportional to the delta alone, and the content can be rendered at
// any time. It is for one goroutine at a time.
type Draft struct {
	role  string
	parts []*part
	size  int
}

// part is one part of a content: text, thinking or a function call.
type part struct {
	kind     partKind
	id, name string // of a function call
	text     []byte // or the JSON text of a function call's arguments
}

type partKind string

const (
	kindText    partKind = "text"
	kindThought partKind = "thought"
	kindCall    partKind = "function_call"
)

// NewDraft returns an empty content; role is the speaker, such as "model".
func NewDraft(role string) *Draft { return &Draft{role: role} }

// Append applies a delta. Parts are dense: a delta continues an existing part or
// begins the next one. A delta that breaks a rule changes nothing; the fault names
// the member, pointer is the delta's JSON pointer.
func (c *Draft) Append(d Delta, pointer string) error {
	if err := d.Validate(pointer); err != nil {
		return err
	}
	if d.Part > len(c.parts) {
		return fault.Field(fault.Invalid, pointer+"/part", "must be at most %d: parts begin in order", len(c.parts))
	}
	if d.Part == len(c.parts) {
		if d.Call != nil && d.Call.Name == "" {
			return fault.Field(fault.Invalid, pointer+"/function_call/name", "is required where a call begins")
		}
		c.open(d)
	} else if err := c.parts[d.Part].accepts(d, pointer); err != nil {
		return err
	}
	p := c.parts[d.Part]
	p.text = append(p.text, d.Appended()...)
	c.size += d.Size()
	return nil
}

func (c *Draft) open(d Delta) {
	p := &part{kind: d.kind()}
	if d.Call != nil {
		p.id, p.name = d.Call.ID, d.Call.Name
	}
	c.parts = append(c.parts, p)
}

func (d Delta) kind() partKind {
	switch {
	case d.Call != nil:
		return kindCall
	case d.Thought:
		return kindThought
	}
	return kindText
}

// accepts returns why a delta cannot continue the part.
func (p *part) accepts(d Delta, pointer string) error {
	if kind := d.kind(); kind != p.kind {
		member := string(kind)
		if p.kind == kindThought && kind == kindText {
			member = string(kindThought) // the missing member
		}
		return fault.Field(fault.Invalid, pointer+"/"+member, "disagrees with part %d, which is %s", d.Part, p.kind)
	}
	if d.Call == nil {
		return nil
	}
	if d.Call.ID != "" {
		return fault.Field(fault.Invalid, pointer+"/function_call/id", "may come only where the call begins")
	}
	if d.Call.Name != "" {
		return fault.Field(fault.Invalid, pointer+"/function_call/name", "may come only where the call begins")
	}
	return nil
}

// Parts returns the number of parts.
func (c *Draft) Parts() int { return len(c.parts) }

// Size returns the size of the content's texts, ids and names, in bytes of UTF-8.
func (c *Draft) Size() int { return c.size }

// Snapshot returns the content so far as {role, parts}, in which function calls
// have args_text and no args yet.
func (c *Draft) Snapshot() json.RawMessage {
	raw, err := c.render(func(_ int, p *part) (*callJSON, error) {
		text := string(p.text)
		return &callJSON{ID: p.id, Name: p.name, ArgsText: &text}, nil
	})
	if err != nil { // all values are valid strings
		panic(fmt.Sprintf("render a snapshot: %v", err))
	}
	return raw
}

// Finish returns the whole content: every function call has args, which must be a
// JSON object that can be stored; empty text is an empty object.
func (c *Draft) Finish() (json.RawMessage, error) {
	return c.render(func(i int, p *part) (*callJSON, error) {
		args := bytes.TrimSpace(p.text)
		if len(args) == 0 {
			args = []byte("{}")
		}
		at := fmt.Sprintf("/parts/%d/function_call/args_text", i)
		if !jsonx.IsObject(args) || !json.Valid(args) {
			return nil, fault.Field(fault.Invalid, at, "must be a JSON object once the call is complete")
		}
		if flaw := jsonx.CheckInner(args); flaw != nil {
			return nil, fault.Field(fault.Invalid, at+flaw.Pointer, "%s", flaw.Reason)
		}
		return &callJSON{ID: p.id, Name: p.name, Args: args}, nil
	})
}

type contentJSON struct {
	Role  string     `json:"role,omitempty"`
	Parts []partJSON `json:"parts"`
}

func (c *Draft) render(call func(int, *part) (*callJSON, error)) (json.RawMessage, error) {
	out := contentJSON{Role: c.role, Parts: make([]partJSON, len(c.parts))}
	for i, p := range c.parts {
		if p.kind == kindCall {
			var err error
			if out.Parts[i].Call, err = call(i, p); err != nil {
				return nil, err
			}
			continue
		}
		text := string(p.text)
		out.Parts[i] = partJSON{Thought: p.kind == kindThought, Text: &text}
	}
	return jsonx.Marshal(out)
}

// ResumeDraft returns the content of a snapshot, to which deltas can be appended.
// The result of Finish cannot grow if it has function calls, nor can a content with
// parts that deltas cannot produce; the fault names the first such member.
func ResumeDraft(snapshot json.RawMessage) (*Draft, error) {
	m, err := parseMembers(snapshot, "", "role", "parts")
	if err != nil {
		return nil, err
	}
	c := NewDraft("")
	if err := m.Take("role", &c.role, "a string"); err != nil {
		return nil, err
	}
	var parts []map[string]json.RawMessage
	if err := m.Take("parts", &parts, "an array of objects"); err != nil {
		return nil, err
	}
	for i, p := range parts {
		at := "/parts/" + strconv.Itoa(i)
		if p == nil {
			return nil, fault.Field(fault.Malformed, at, "must be an object")
		}
		p["part"] = json.RawMessage(strconv.Itoa(i)) // a part is a delta appended to nothing
		raw, err := jsonx.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("resume part %d: %w", i, err)
		}
		d, err := ParseDelta(raw, at)
		if err != nil {
			return nil, err
		}
		if err := c.Append(d, at); err != nil {
			return nil, err
		}
	}
	return c, nil
}
