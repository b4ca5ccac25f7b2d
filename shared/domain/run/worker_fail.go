package run

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/sleep"
)

// CodeStorage is the code of runs that fail since the store refused a read or
// a write for no fault of the agent's.
const CodeStorage = "storage_failed"

var (
	// errOver stops a worker whose run somebody else has ended.
	errOver = errors.New("the run is over")
	// errOutOfTime ends the agent's call while there is time to say so.
	errOutOfTime = errors.New("the worker's time is up")
)

// failedError fails a run.
type failedError struct {
	problem *Problem
	cause   error // nil where the problem says it all
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

// problemOf is an error as the run shows it: details of errors that are not
// made to be shown stay in the log.
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

// logged is an error as the log has it. One with a method Logged() string says
// itself what of it is no part of the conversation.
func logged(err error) string {
	var careful interface{ Logged() string }
	if errors.As(err, &careful) {
		return careful.Logged()
	}
	return err.Error()
}

// refused says what an error of the store means for the run.
func (x *execution) refused(ctx context.Context, err error) error {
	f := &fault.Error{Kind: fault.Busy} // what is no fault may pass as well
	errors.As(err, &f)
	switch f.Kind {
	case fault.NotFound, fault.Forbidden: // the session was deleted
		return errOver
	case fault.Conflict: // mostly a cancelled run; but an agent may have chosen an id that is taken
		if r, err := x.Store.Run(ctx, x.ref); err != nil || r.Status.Over() {
			return errOver
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

// A store that is busy has done nothing yet, so the same may be asked again.
const (
	busyTries = 4
	busyWait  = time.Second // at most; the store may ask for less
)

// patiently does what the store may be too busy for at first.
func patiently(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		var f *fault.Error
		if try == busyTries || !errors.As(err, &f) || f.Kind != fault.Busy {
			return err
		}
		if sleep.For(ctx, min(max(f.RetryAfter, busyWait/4), busyWait)+sleep.Jitter(busyWait/4)) != nil {
			return err
		}
	}
}
