package table

import (
	"errors"
	"fmt"
)

// The errors that an engine's errors wrap.
var (
	// ErrConditionFailed: a condition does not hold and nothing was written.
	ErrConditionFailed = errors.New("the condition of a write does not hold")
	// ErrConflict: another write of an item was under way and nothing was written.
	// A retry may succeed.
	ErrConflict = errors.New("another write of the item is under way")
	// ErrThrottled: the table has no capacity left now or cannot be reached, and
	// nothing was done. A later retry may succeed.
	ErrThrottled = errors.New("the table is throttled")
	// ErrUndecided: the request was sent and its answer was lost; a write may or
	// may not have happened.
	ErrUndecided = errors.New("the outcome of a request is unknown")
	// ErrTooLarge: an item or a transaction exceeds a limit and nothing was
	// written. A retry cannot succeed.
	ErrTooLarge = errors.New("an item or a transaction is too large")
	// ErrInvalid: the request can never succeed as it is. A retry cannot succeed.
	ErrInvalid = errors.New("the request is invalid")
	// ErrDenied: the caller lacks permission or the table does not exist, and
	// nothing was done. A retry cannot succeed until that changes.
	ErrDenied = errors.New("the table refuses its caller")
	// ErrUnreadable: an item does not have the expected form.
	ErrUnreadable = errors.New("an item cannot be read")
)

// ConditionError lists the writes whose conditions failed. It wraps
// ErrConditionFailed.
type ConditionError struct {
	Failures []Failure // in the order of the writes
}

// Failure is a write whose condition did not hold.
type Failure struct {
	Write int  // its index among a transaction's writes; 0 for a single write
	Found Item // the stored item; nil if there is none
}

func (e *ConditionError) Error() string {
	if len(e.Failures) == 1 {
		return fmt.Sprintf("write %d: %v", e.Failures[0].Write, ErrConditionFailed)
	}
	return fmt.Sprintf("%d writes: %v", len(e.Failures), ErrConditionFailed)
}

// Unwrap returns ErrConditionFailed.
func (*ConditionError) Unwrap() error { return ErrConditionFailed }
