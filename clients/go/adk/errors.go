package adk

import rethread "github.com/rethread/rethread/clients/go"

// Error is an unsuccessful answer of the API, with its problem (RFC 9457), or the lack of
// an answer, with the status 0. It wraps the sentinel error of its status.
type Error = rethread.Error

// The sentinel errors, for errors.Is. Errors that the API returned wrap them, as
// do errors of requests that the services reject without calling the API.
var (
	ErrMalformed    = rethread.ErrMalformed    // 400
	ErrUnauthorized = rethread.ErrUnauthorized // 401
	ErrForbidden    = rethread.ErrForbidden    // 403: the session belongs to another user
	ErrNotFound     = rethread.ErrNotFound     // 404
	ErrConflict     = rethread.ErrConflict     // 409
	ErrTooLarge     = rethread.ErrTooLarge     // 413
	ErrInvalid      = rethread.ErrRuleBroken   // 422
	ErrBusy         = rethread.ErrRateLimited  // 429, after 5 attempts or with a Retry-After that ends after the call's time
)
