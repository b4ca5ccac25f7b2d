package run

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
)

// CodeStorage is the code of runs that fail because the store refused a read or a
// write for a reason other than the agent's output.
const CodeStorage = "storage_failed"

var (
	// errRunEnded stops a worker whose run was ended by others.
	errRunEnded = errors.New("the run is over")
	// errOutOfTime ends the agent's call while there is time to end the run.
	errOutOfTime = errors.New("the worker's time is up")
)

// failedError fails a run.
type failedError struct {
	problem *Problem
	cause   error // nil if the problem says everything
}

func fail(code, message string) error { return failBecause(code, message, nil) }

func failBecause(code, message string, cause error) error {
	return &failedError{NewProblem(code, message), cause}
}

func (e *failedError) Error() string {
	text := e.problem.Code + ": " + e.problem.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

func (e *failedError) Unwrap() error     { return e.cause }
func (e *failedError) Problem() *Problem { return e.problem }

// problemOf returns an error as the run shows it: details of errors that are not
// meant to be shown are only logged.
func problemOf(err error) *Problem {
	var known interface{ Problem() *Problem }
	switch {
	case errors.As(err, &known):
		return known.Problem()
	case errors.Is(err, errOutOfTime), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return NewProblem(CodeTime, "the agent was not done within the time that a run may take")
	}
	return NewProblem(CodeAgent, "the agent could not be called")
}

// logText returns an error as it is logged. An error with a method Logged() string
// leaves out the content of the conversation itself.
func logText(err error) string {
	var careful interface{ Logged() string }
	if errors.As(err, &careful) {
		return careful.Logged()
	}
	return err.Error()
}

// failureOf returns what an error of the store means for the run.
func (x *execution) failureOf(ctx context.Context, err error) error {
	f := &fault.Error{Kind: fault.Busy} // an unknown error may be temporary too
	errors.As(err, &f)
	switch f.Kind {
	case fault.NotFound, fault.Forbidden: // the session was deleted
		return errRunEnded
	case fault.Conflict: // usually a cancelled run; but an agent may have chosen an id that is taken
		if r, err := x.Store.Run(ctx, x.ref); err != nil || x.isOver(r) {
			return errRunEnded
		}
		return failBecause(CodeContent, "what the agent produced cannot be stored: "+f.Detail, err)
	case fault.Malformed, fault.Invalid:
		return failBecause(CodeContent, "what the agent produced cannot be stored: "+f.Detail, err)
	case fault.TooLarge:
		return failBecause(CodeLimit, f.Detail, err)
	case fault.Unauthorized, fault.Precondition, fault.Busy:
	}
	return failBecause(CodeStorage, "the session could not be read or written", err)
}

// A busy store has done nothing yet, so the request may be repeated.
const (
	busyAttempts = 4
	busyWait     = time.Second // the maximum; the store may ask for less
)

// retryBusy repeats a request while the store is busy, and waits as long as the
// store asks.
func retryBusy(ctx context.Context, do func() error) error {
	policy := retry.Policy{First: busyWait / 4, Max: busyWait, After: retryAfter, Tries: busyAttempts}
	return retry.Do(ctx, policy, func(err error) bool { return errors.Is(err, fault.Of(fault.Busy)) }, do)
}

// retryAfter returns the delay that a busy store asks for.
func retryAfter(err error) time.Duration {
	var f *fault.Error
	errors.As(err, &f)
	return f.RetryAfter
}
