package table

import (
	"errors"
	"fmt"
)

// What an engine's errors wrap.
var (
	// ErrConditionFailed: nothing was written, since a condition does not hold.
	ErrConditionFailed = errors.New("the condition of a write does not hold")
	// ErrConflict: nothing was written, since another write of an item was under
	// way. To try again may help.
	ErrConflict = errors.New("another write of the item is under way")
	// ErrThrottled: nothing was done, since the table has no capacity left now or
	// cannot be reached. To try again later may help.
	ErrThrottled = errors.New("the table is throttled")
	// ErrUndecided: the request was sent and its answer lost, so that a write may
	// or may not have happened.
	ErrUndecided = errors.New("the outcome of a request is unknown")
	// ErrTooLarge: nothing was written, since an item or a transaction is over a
	// limit. To try again is useless.
	ErrTooLarge = errors.New("an item or a transaction is too large")
	// ErrInvalid: the request can never succeed as it is. To try again is useless.
	ErrInvalid = errors.New("the request is invalid")
	// ErrDenied: nothing was done, since the caller may not, or there is no such
	// table. To try again is useless until somebody grants or makes it.
	ErrDenied = errors.New("the table refuses its caller")
	// ErrUnreadable: an item is not of the form that was asked for.
	ErrUnreadable = errors.New("an item cannot be read")
)

// ConditionError says which writes failed by their conditions. It is
// ErrConditionFailed.
type ConditionError struct {
	Failures []Failure // by the order of the writes
}

// Failure is a write whose condition does not hold.
type Failure struct {
	Write int  // its index among a transaction's writes; 0 for a single write
	Found Item // what stands under its key, nil for nothing
}

func (e *ConditionError) Error() string {
	if len(e.Failures) == 1 {
		return fmt.Sprintf("write %d: %v", e.Failures[0].Write, ErrConditionFailed)
	}
	return fmt.Sprintf("%d writes: %v", len(e.Failures), ErrConditionFailed)
}

// Unwrap makes it ErrConditionFailed.
func (*ConditionError) Unwrap() error { return ErrConditionFailed }
