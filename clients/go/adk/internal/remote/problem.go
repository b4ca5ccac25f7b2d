package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The sentinel errors of the statuses, for errors.Is.
var (
	ErrMalformed    = errors.New("the request is malformed")        // 400
	ErrUnauthorized = errors.New("the token is not accepted")       // 401
	ErrForbidden    = errors.New("the caller has no access")        // 403
	ErrNotFound     = errors.New("not found")                       // 404
	ErrConflict     = errors.New("conflict with the current state") // 409
	ErrPrecondition = errors.New("a precondition failed")           // 412
	ErrTooLarge     = errors.New("a size limit is exceeded")        // 413
	ErrInvalid      = errors.New("the request violates a rule")     // 422
	ErrBusy         = errors.New("too many requests")               // 429
)

// Error is a problem (RFC 9457) returned by the API with a 4xx status. It wraps
// the sentinel error of its status.
type Error struct {
	Status int
	Detail string
	// Members are the problem's members other than type, title, status and
	// detail, such as head_seq.
	Members map[string]any
}

func (e *Error) Error() string { return e.Detail }

// Unwrap returns the sentinel error of the status.
func (e *Error) Unwrap() error { return kindOf(e.Status) }

// kindOf returns the sentinel error of a status, nil for a failure of the server
// or the gateway.
func kindOf(status int) error {
	switch status {
	case http.StatusBadRequest:
		return ErrMalformed
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusConflict:
		return ErrConflict
	case http.StatusPreconditionFailed:
		return ErrPrecondition
	case http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case http.StatusUnprocessableEntity:
		return ErrInvalid
	case http.StatusTooManyRequests:
		return ErrBusy
	}
	return nil
}

// maxWait is the longest Retry-After that a retry waits for; a request with a
// longer one fails.
const maxWait = 10 * time.Second

// failure returns the error of an unsuccessful response: an Error for statuses
// with a sentinel error, otherwise a plain error.
func failure(res *http.Response, body []byte) error {
	var members map[string]any
	if json.Unmarshal(body, &members) != nil {
		members = nil
	}
	detail, _ := members["detail"].(string)
	if detail == "" {
		detail = fmt.Sprintf("%s: %.200q", res.Status, body)
	}
	if kindOf(res.StatusCode) == nil {
		return fmt.Errorf("status %d: %s (request %v)", res.StatusCode, detail, members["request_id"])
	}
	for _, standard := range []string{"type", "title", "status", "detail"} {
		delete(members, standard)
	}
	return &Error{Status: res.StatusCode, Detail: detail, Members: members}
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// retryable wraps err, the failure of a request, for backoff.Retry: as permanent
// unless the request may be repeated, and with the server's Retry-After.
func retryable(r request, res *http.Response, err error) error {
	switch status := res.StatusCode; {
	case status == http.StatusTooManyRequests:
	case !r.once && (status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout):
	case r.key != "" && status == http.StatusConflict && retryAfter(res.Header) > 0: // the attempt before is still being executed
	default:
		return backoff.Permanent(err)
	}
	switch after := retryAfter(res.Header); {
	case after > maxWait:
		return backoff.Permanent(err)
	case after > 0:
		return &later{err, &backoff.RetryAfterError{Duration: after}}
	}
	return err
}

// later is an error after which to wait before a retry. Its text is that of the
// wrapped error.
type later struct {
	error
	after *backoff.RetryAfterError
}

func (l *later) Unwrap() []error { return []error{l.error, l.after} }
