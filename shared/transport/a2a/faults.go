package a2a

import (
	"context"
	"errors"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
)

// protocolError is an error as the protocol has it. What is no fault of the
// domain's and no error of the protocol's stays in the log.
func (g guard) protocolError(ctx context.Context, method string, err error) error {
	var known *lib.Error
	var f *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &f):
		return lib.NewError(kindError(f.Kind), f.Detail)
	case lib.ErrorReason(err) != lib.ErrorReason(lib.ErrInternalError):
		return err
	}
	if ctx.Err() == nil {
		g.log.ErrorContext(ctx, "a call failed", "method", method, "error", err)
	}
	return lib.NewError(lib.ErrInternalError, "Internal error.")
}

// isNotYours reports whether a session is of somebody who shares it with the caller
// in no way.
func isNotYours(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Forbidden && f.Detail == fault.NotYours("session").Detail
}

func isMissing(err error) bool { return errors.Is(err, fault.Of(fault.NotFound)) }

// kindError is the protocol's error for a kind of fault. What belongs to
// somebody else is as good as not there: the protocol asks for that.
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
