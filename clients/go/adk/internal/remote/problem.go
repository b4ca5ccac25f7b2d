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

// What a request fails with, for errors.Is.
var (
	ErrMalformed    = errors.New("the request is malformed")      // 400
	ErrUnauthorized = errors.New("the token is not accepted")     // 401
	ErrForbidden    = errors.New("the caller has no access")      // 403
	ErrNotFound     = errors.New("not found")                     // 404
	ErrConflict     = errors.New("something else is in the way")  // 409
	ErrPrecondition = errors.New("a precondition does not hold")  // 412
	ErrTooLarge     = errors.New("a size limit is exceeded")      // 413
	ErrInvalid      = errors.New("the request breaks a rule")     // 422
	ErrBusy         = errors.New("the API cannot serve this now") // 429
)

// Error is a problem (RFC 9457) that the API answered with. It wraps the error
// above that its status stands for.
type Error struct {
	Status int
	Detail string
	// Members are those that the problem has beside type, title, status and
	// detail, such as head_seq.
	Members map[string]any
}

func (e *Error) Error() string { return e.Detail }

// Unwrap is the error that the status stands for.
func (e *Error) Unwrap() error { return kindOf(e.Status) }

// kindOf is what a status stands for, nil where the API or a gateway failed.
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

// maxWait is the longest Retry-After that is waited for.
const maxWait = 10 * time.Second

// failure makes an error of an answer that is no success: an Error, or a plain
// one where the API or a gateway failed.
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

// retried says of a failed answer whether the request may be sent again.
func retried(r request, res *http.Response, err error) error {
	switch status := res.StatusCode; {
	case status == http.StatusTooManyRequests:
	case !r.once && (status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout):
	case r.key != "" && status == http.StatusConflict && retryAfter(res.Header) > 0: // the try before is not done yet
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

// later is an error that is over after a while. It reads as the error itself.
type later struct {
	error
	after *backoff.RetryAfterError
}

func (l *later) Unwrap() []error { return []error{l.error, l.after} }
