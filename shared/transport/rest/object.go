package rest

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// object is a JSON object in a request, or the request's body.
type object struct{ jsonx.Object }

func parseObject(raw json.RawMessage, at string) (object, error) {
	o, err := jsonx.ParseObjectWith(raw, at, fieldFault)
	return object{o}, err
}

// object reads the body as an object.
func (c *call) object() (object, error) { return parseObject(c.body, "") }

// object reads an optional object, empty if absent.
func (o object) object(name string) (object, error) {
	inner, err := o.Object.Object(name)
	return object{inner}, err
}

func malformed(at, reason string) error { return fieldFault(fault.Malformed, at, "%s", reason) }

// fieldFault is fault.Field with a readable detail: the member's name without
// the leading slash.
func fieldFault(cause fault.Cause, at, format string, args ...any) *fault.Error {
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

// expectedSeq reads the head of the log that the caller has seen, nil if the member
// is absent.
func (o object) expectedSeq() (*int64, error) {
	const name = "expected_seq"
	seq, err := o.Integer(name)
	if err == nil && seq != nil && *seq < 0 {
		err = fieldFault(fault.Invalid, o.Pointer(name), "must not be negative")
	}
	return seq, err
}
