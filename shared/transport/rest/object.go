package rest

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Object is a JSON object in a request, or the request's body.
type Object struct{ jsonx.Object }

// ParseObject parses a JSON object; at is its JSON pointer.
func ParseObject(raw json.RawMessage, at string) (Object, error) {
	o, err := jsonx.ParseObjectWith(raw, at, FieldFault)
	return Object{o}, err
}

// Object reads the body as an object.
func (c *Call) Object() (Object, error) { return ParseObject(c.JSON, "") }

// Member reads an optional object, empty if absent.
func (o Object) Member(name string) (Object, error) {
	inner, err := o.Object.Object(name)
	return Object{inner}, err
}

// Malformed returns the fault of a member that cannot be read.
func Malformed(at, reason string) error { return FieldFault(fault.Malformed, at, "%s", reason) }

// FieldFault is fault.Field with a readable detail: the member's name without
// the leading slash.
func FieldFault(cause fault.Cause, at, format string, args ...any) *fault.Error {
	f := fault.Field(cause, at, format, args...)
	name := strings.TrimPrefix(at, "/")
	if at == "" {
		name = "the body"
	}
	f.Detail = name + " " + f.Violations[0].Detail
	if f.Kind == fault.Malformed {
		f.Detail = "Invalid request: " + f.Detail
	}
	return f
}

// ExpectedSeq reads the head of the log that the caller has seen, nil if the member
// is absent.
func (o Object) ExpectedSeq() (*int64, error) {
	const name = "expected_seq"
	seq, err := o.Integer(name)
	if err == nil && seq != nil && *seq < 0 {
		err = FieldFault(fault.Invalid, o.Pointer(name), "must not be negative")
	}
	return seq, err
}
