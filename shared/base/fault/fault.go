// Package fault holds the errors of the domain. Adapters return them, and one file
// of each transport converts them to responses.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the kind of a fault, independent of any transport.
type Kind int

// The kinds of fault. Each transport maps all of them; an error that is not an
// *Error is an internal failure whose details go only to the log.
const (
	Malformed    Kind = iota + 1 // the request cannot be parsed: invalid JSON, a missing field, a wrong type
	Unauthorized                 // no identity
	Forbidden                    // it exists, but the caller has no access
	NotFound                     // it does not exist
	Conflict                     // a conflict with the current state; Extra has its cause
	Precondition                 // If-Match did not hold
	TooLarge                     // over a size limit
	Invalid                      // well-formed, but violates a rule
	Busy                         // contention or throttling; RetryAfter is when to retry
)

// Violation describes one field that violates a rule. Pointer is a JSON pointer
// (RFC 6901) into the request body, or the name of a parameter.
type Violation struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Error is a fault with everything that a caller may see of it.
type Error struct {
	Kind       Kind
	Code       Code // "" for the default of the kind: see CodeOf
	Detail     string
	Violations []Violation
	Extra      map[string]any // members added to the problem, such as head_seq
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Detail }

// Is makes errors.Is(err, Of(c)) true for any fault of a kind, or with a code.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Detail == "" && other.Kind == e.Kind &&
		(other.Code == "" || other.Code == e.Code)
}

// Of returns a fault with only a kind or a code, for errors.Is.
func Of(c Cause) error {
	k, code := c.cause()
	return &Error{Kind: k, Code: code}
}

// New returns a fault with a formatted detail. Conflicts, things that do not exist and
// exceeded sizes have no default code: their cause is a Code.
func New(c Cause, format string, args ...any) *Error {
	k, code := c.cause()
	return &Error{Kind: k, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Field returns a fault of one field of the request; the kind is Malformed for a
// missing field or a wrong type, and Invalid for any other violation.
func Field(c Cause, pointer, format string, args ...any) *Error {
	k, code := c.cause()
	reason := fmt.Sprintf(format, args...)
	return &Error{
		Kind:       k,
		Code:       code,
		Detail:     pointer + " " + reason,
		Violations: []Violation{{Pointer: pointer, Detail: reason}},
	}
}

// With adds a member to the problem and returns the same fault.
func (e *Error) With(name string, value any) *Error {
	if e.Extra == nil {
		e.Extra = map[string]any{}
	}
	e.Extra[name] = value
	return e
}

// Missing returns the fault for a thing that does not exist, whose code is named after
// the thing.
func Missing(what string) *Error {
	return New(Code(strings.ToLower(what)+"_not_found"), "%s not found", what)
}

// NotYours returns the fault for a thing to which the caller has no access.
func NotYours(what string) *Error {
	return New(Forbidden, "You do not have permission to access this %s", what)
}
