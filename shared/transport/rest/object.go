package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// object reads the members of a JSON object one by one. Names match exactly,
// null is a wrong type unless a method says otherwise, and every fault names
// its member by pointer.
type object struct {
	at      string
	members map[string]json.RawMessage
}

func parseObject(raw json.RawMessage, at string) (object, error) {
	o := object{at: at}
	if !startsWith(raw, '{') || json.Unmarshal(raw, &o.members) != nil {
		return object{}, malformed(at, "must be an object")
	}
	return o, nil
}

// object reads the body as one.
func (c *call) object() (object, error) { return parseObject(c.body, "") }

func malformed(at, reason string) error { return fieldFault(fault.Malformed, at, "%s", reason) }

// fieldFault is fault.Field with a detail for people: it names the member
// without the leading slash.
func fieldFault(kind fault.Kind, at, format string, args ...any) *fault.Error {
	f := fault.Field(kind, at, format, args...)
	name := strings.TrimPrefix(at, "/")
	if at == "" {
		name = "the body"
	}
	f.Detail = name + " " + f.Violations[0].Detail
	if kind == fault.Malformed {
		f.Detail = "Invalid request: " + f.Detail
	}
	return f
}

func startsWith(raw json.RawMessage, c byte) bool {
	t := bytes.TrimSpace(raw)
	return len(t) > 0 && t[0] == c
}

func (o object) pointer(name string) string { return o.at + "/" + session.EscapePointer(name) }

func (o object) has(name string) bool {
	_, ok := o.members[name]
	return ok
}

// raw is a member compacted, nil where it is absent.
func (o object) raw(name string) (json.RawMessage, error) {
	raw, ok := o.members[name]
	if !ok {
		return nil, nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, fmt.Errorf("compact %s: %w", o.pointer(name), err)
	}
	return buf.Bytes(), nil
}

// text reads an optional string, "" where it is absent.
func (o object) text(name string) (string, error) {
	raw, ok := o.members[name]
	if !ok {
		return "", nil
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", malformed(o.pointer(name), "must be a string")
	}
	return *s, nil
}

func (o object) requiredText(name string) (string, error) {
	if !o.has(name) {
		return "", malformed(o.pointer(name), "is required")
	}
	return o.text(name)
}

func (o object) boolean(name string) (bool, error) {
	raw, ok := o.members[name]
	if !ok {
		return false, nil
	}
	var b *bool
	if json.Unmarshal(raw, &b) != nil || b == nil {
		return false, malformed(o.pointer(name), "must be a boolean")
	}
	return *b, nil
}

// integer reads an optional integer; 2.0 is one.
func (o object) integer(name string) (*int64, error) {
	raw, ok := o.members[name]
	if !ok {
		return nil, nil
	}
	n, ok := session.Integer(raw)
	if !ok {
		return nil, malformed(o.pointer(name), "must be an integer")
	}
	return &n, nil
}

func (o object) array(name string) ([]json.RawMessage, error) {
	raw, ok := o.members[name]
	if !ok {
		return nil, nil
	}
	var items []json.RawMessage
	if !startsWith(raw, '[') || json.Unmarshal(raw, &items) != nil {
		return nil, malformed(o.pointer(name), "must be an array")
	}
	return items, nil
}

// object reads an optional object, without members where it is absent.
func (o object) object(name string) (object, error) {
	raw, ok := o.members[name]
	if !ok {
		return object{at: o.pointer(name)}, nil
	}
	return parseObject(raw, o.pointer(name))
}

// texts reads an array of strings.
func (o object) texts(name string) ([]string, error) {
	items, err := o.array(name)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(items))
	for i, raw := range items {
		var s *string
		if json.Unmarshal(raw, &s) != nil || s == nil {
			return nil, malformed(o.pointer(name)+"/"+strconv.Itoa(i), "must be a string")
		}
		out[i] = *s
	}
	return out, nil
}
