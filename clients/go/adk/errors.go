package adk

import "github.com/rethread/rethread/clients/go/adk/internal/remote"

// Error is a problem (RFC 9457) that the API answered with. It wraps the error
// below that its status stands for.
type Error = remote.Error

// What a call fails with, for errors.Is. An answer of the API wraps them, and so
// does what the services refuse themselves.
var (
	ErrMalformed    = remote.ErrMalformed    // 400
	ErrUnauthorized = remote.ErrUnauthorized // 401
	ErrForbidden    = remote.ErrForbidden    // 403: the session is somebody else's
	ErrNotFound     = remote.ErrNotFound     // 404
	ErrConflict     = remote.ErrConflict     // 409
	ErrTooLarge     = remote.ErrTooLarge     // 413
	ErrInvalid      = remote.ErrInvalid      // 422
	ErrBusy         = remote.ErrBusy         // 429, still after several tries
)
