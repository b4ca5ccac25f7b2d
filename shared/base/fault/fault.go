// Package fault holds the errors that the domain speaks of. Adapters return
// them, and one file of each transport turns them into answers.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what went wrong, independent of any transport.
type Kind int

// The kinds of fault. Each transport maps every one of them; an error that is
// no *Error is an internal failure whose details stay in the log.
const (
	Malformed    Kind = iota + 1 // the request cannot be read: bad JSON, a missing field, a wrong type
	Unauthorized                 // no identity
	Forbidden                    // it exists and belongs to somebody else
	NotFound                     // nothing is there
	Conflict                     // something is in the way; Extra names it
	Precondition                 // If-Match did not hold
	TooLarge                     // over a size limit
	Invalid                      // readable, but breaks a rule
	Busy                         // contention or throttling; RetryAfter says when to come back
)

// Violation names one field that breaks a rule. Pointer is a JSON pointer
// (RFC 6901) into the request body, or the name of a parameter.
type Violation struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Error is a fault with all that a caller may be told about it.
type Error struct {
	Kind       Kind
	Detail     string
	Violations []Violation
	Extra      map[string]any // members added to the problem, such as head_seq
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Detail }

// Is makes errors.Is(err, &Error{Kind: k}) true for any fault of that kind.
func (e *Error) Is(target error) bool {
	var other *Error
	return errors.As(target, &other) && other.Kind == e.Kind && other.Detail == ""
}

// Of is the bare fault of a kind, for errors.Is.
func Of(k Kind) error { return &Error{Kind: k} }

// New is a fault with a formatted detail.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Detail: fmt.Sprintf(format, args...)}
}

// Field is a fault of one field of the request; kind is Malformed for what is
// missing or of the wrong type and Invalid for any other broken rule.
func Field(k Kind, pointer, format string, args ...any) *Error {
	reason := fmt.Sprintf(format, args...)
	return &Error{
		Kind:       k,
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

// Missing is the fault of a thing that is not there.
func Missing(what string) *Error { return New(NotFound, "%s not found", what) }

// NotYours is the fault of a thing that exists and belongs to somebody else.
func NotYours(what string) *Error {
	return New(Forbidden, "You do not have permission to access this %s", what)
}
