package adk

import "github.com/rethread/rethread/clients/go/adk/internal/remote"

// Error is a problem (RFC 9457) returned by the API with a 4xx status. It wraps
// the sentinel error of its status.
type Error = remote.Error

// The sentinel errors, for errors.Is. Errors that the API returned wrap them, as
// do errors of requests that the services reject without calling the API.
var (
	ErrMalformed    = remote.ErrMalformed    // 400
	ErrUnauthorized = remote.ErrUnauthorized // 401
	ErrForbidden    = remote.ErrForbidden    // 403: the session belongs to another user
	ErrNotFound     = remote.ErrNotFound     // 404
	ErrConflict     = remote.ErrConflict     // 409
	ErrTooLarge     = remote.ErrTooLarge     // 413
	ErrInvalid      = remote.ErrInvalid      // 422
	ErrBusy         = remote.ErrBusy         // 429, after 5 attempts or with a Retry-After of more than 10 seconds
)
