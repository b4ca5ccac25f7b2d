package jsonx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
)

// Object reads the members of a JSON object one by one. Names match exactly, null is
// a wrong type, and faults have the member's JSON pointer. Absent members read as
// their zero value, unless a method says otherwise.
type Object struct {
	At      string // JSON pointer of the object
	Members map[string]json.RawMessage
	Fault   FaultFunc // nil means fault.Field
}

// FaultFunc makes the fault of a value, as fault.Field does.
type FaultFunc func(cause fault.Cause, pointer, format string, args ...any) *fault.Error

// ParseObject parses an object; at is its JSON pointer. Invalid UTF-8 and unpaired
// surrogates read as U+FFFD; Check detects them.
func ParseObject(raw []byte, at string) (Object, error) {
	return ParseObjectWith(raw, at, nil)
}

// ParseBody parses a request's body, which must be an object that Check accepts.
func ParseBody(body []byte) (Object, error) {
	if flaw := Check(body); flaw != nil {
		return Object{}, fault.Field(fault.Malformed, flaw.Pointer, "%s", flaw.Reason)
	}
	return ParseObject(body, "")
}

// ParseObjectWith is ParseObject with faults made by f.
func ParseObjectWith(raw []byte, at string, f FaultFunc) (Object, error) {
	o := Object{At: at, Fault: f}
	if !startsWith(raw, '{') || json.Unmarshal(raw, &o.Members) != nil {
		return Object{}, o.refuse(fault.Malformed, at, "must be an object")
	}
	return o, nil
}

func (o Object) refuse(kind fault.Kind, pointer, format string, args ...any) error {
	if o.Fault == nil {
		return fault.Field(kind, pointer, format, args...)
	}
	return o.Fault(kind, pointer, format, args...)
}

// Pointer returns the JSON pointer of a member.
func (o Object) Pointer(name string) string { return o.At + "/" + EscapePointer(name) }

// Has reports whether a member is present, including null.
func (o Object) Has(name string) bool {
	_, ok := o.Members[name]
	return ok
}

// Only returns a fault of kind Invalid that names all members with other names.
func (o Object) Only(known ...string) error {
	var broken fault.Broken
	for _, name := range slices.Sorted(maps.Keys(o.Members)) {
		if !slices.Contains(known, name) {
			broken.Add(o.refuse(fault.Invalid, o.Pointer(name), "is not known here"))
		}
	}
	return broken.Err()
}

// Required returns a fault of kind Malformed if the member is absent.
func (o Object) Required(name string) error {
	if !o.Has(name) {
		return o.refuse(fault.Malformed, o.Pointer(name), "is required")
	}
	return nil
}

// Take decodes a member into into, which does not change if the member is absent;
// what names the required type in the fault.
func (o Object) Take(name string, into any, what string) error {
	raw, ok := o.Members[name]
	if ok && (IsNull(raw) || json.Unmarshal(raw, into) != nil) {
		return o.refuse(fault.Malformed, o.Pointer(name), "must be %s", what)
	}
	return nil
}

// Raw returns a member compacted, nil if it is absent.
func (o Object) Raw(name string) (json.RawMessage, error) {
	if !o.Has(name) {
		return nil, nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, o.Members[name]); err != nil {
		return nil, fmt.Errorf("compact %s: %w", o.Pointer(name), err)
	}
	return buf.Bytes(), nil
}

// Text reads a string.
func (o Object) Text(name string) (s string, err error) {
	err = o.Take(name, &s, "a string")
	return s, err
}

// RequiredText reads a string that must be present.
func (o Object) RequiredText(name string) (string, error) {
	if err := o.Required(name); err != nil {
		return "", err
	}
	return o.Text(name)
}

// Choice reads a string that is one of a few; the first is the default.
func (o Object) Choice(name string, words ...string) (string, error) {
	word, err := o.Text(name)
	switch {
	case err != nil:
		return "", err
	case !o.Has(name):
		return words[0], nil
	case !slices.Contains(words, word):
		return "", o.refuse(fault.Invalid, o.Pointer(name), "must be one of %s", strings.Join(words, ", "))
	}
	return word, nil
}

// Boolean reads true or false.
func (o Object) Boolean(name string) (b bool, err error) {
	err = o.Take(name, &b, "a boolean")
	return b, err
}

// Integer reads an integer, nil if it is absent; 2.0 is accepted.
func (o Object) Integer(name string) (*int64, error) {
	if !o.Has(name) {
		return nil, nil
	}
	n, ok := Integer(o.Members[name])
	if !ok {
		return nil, o.refuse(fault.Malformed, o.Pointer(name), "must be an integer")
	}
	return &n, nil
}

// Array reads the items of an array.
func (o Object) Array(name string) (items []json.RawMessage, err error) {
	err = o.Take(name, &items, "an array")
	return items, err
}

// Texts reads an array of strings.
func (o Object) Texts(name string) ([]string, error) {
	items, err := o.Array(name)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(items))
	for i, raw := range items {
		if IsNull(raw) || json.Unmarshal(raw, &out[i]) != nil {
			return nil, o.refuse(fault.Malformed, o.Pointer(name)+"/"+strconv.Itoa(i), "must be a string")
		}
	}
	return out, nil
}

// Object reads an object, without members if it is absent.
func (o Object) Object(name string) (Object, error) {
	if !o.Has(name) {
		return Object{At: o.Pointer(name), Fault: o.Fault}, nil
	}
	return ParseObjectWith(o.Members[name], o.Pointer(name), o.Fault)
}
