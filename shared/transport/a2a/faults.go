package a2a

import (
	"context"
	"errors"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"

	"github.com/rethread/rethread/shared/base/fault"
)

// protocolError converts an error to the protocol's. Errors that are neither
// the domain's nor the protocol's are logged and answered without details.
func (g guard) protocolError(ctx context.Context, method string, err error) error {
	var known *lib.Error
	var f *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, lib.ErrTaskNotFound):
		return errNoTask()
	case errors.As(err, &f):
		if is := kindError(f.Kind); !errors.Is(is, lib.ErrTaskNotFound) {
			return withViolations(lib.NewError(is, f.Detail), f.Violations)
		}
		return errNoTask() // whatever of the task was missing
	case lib.ErrorReason(err) != lib.ErrorReason(lib.ErrInternalError):
		return err
	}
	if ctx.Err() == nil {
		g.log.ErrorContext(ctx, "a call failed", "method", method, "error", err)
	}
	return lib.NewError(lib.ErrInternalError, "Internal error.")
}

// badRequestType is the type of the details that name the fields of a request.
const badRequestType = "type.googleapis.com/google.rpc.BadRequest"

// withViolations adds the fields that violate a rule to an error's details.
func withViolations(err *lib.Error, violations []fault.Violation) *lib.Error {
	if len(violations) == 0 {
		return err
	}
	fields := make([]any, len(violations))
	for i, v := range violations {
		fields[i] = map[string]any{"field": v.Pointer, "description": v.Detail}
	}
	return err.WithTypedDetails(errordetails.NewTyped(badRequestType, map[string]any{"fieldViolations": fields}))
}

// errNoTask is the one error for a task that does not exist, no longer exists,
// or may not be read.
func errNoTask() error { return lib.NewError(lib.ErrTaskNotFound, "Task not found") }

// isNotYours reports whether a session is another user's and not shared with
// the caller.
func isNotYours(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Forbidden && f.Detail == fault.NotYours("session").Detail
}

func isMissing(err error) bool { return errors.Is(err, fault.Of(fault.NotFound)) }

// kindError returns the protocol's error for a kind of fault. A task of another
// user is reported as not found, as the protocol requires.
func kindError(kind fault.Kind) error {
	switch kind {
	case fault.Malformed, fault.Invalid, fault.TooLarge:
		return lib.ErrInvalidParams
	case fault.Unauthorized:
		return lib.ErrUnauthenticated
	case fault.NotFound, fault.Forbidden:
		return lib.ErrTaskNotFound
	case fault.Conflict, fault.Precondition:
		return lib.ErrUnsupportedOperation
	default:
		return lib.ErrServerError
	}
}
