// Package problem writes faults as problems (RFC 9457), and maps kinds of faults to
// HTTP statuses and back, for all transports that send or receive problems. It is apart from
// package fault, which the domain imports and which knows no HTTP.
package problem

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// ContentType is the media type of problems.
const ContentType = "application/problem+json"

// Answer is a problem as an HTTP response. Header has Content-Type, and
// WWW-Authenticate or Retry-After if the status requires them.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// TypeOf returns the type of problems with a code: the address of its entry in the
// documents.
func TypeOf(c fault.Code) string {
	return "https://github.com/rethread/rethread/blob/main/docs/errors.md#" + string(c)
}

// New returns the response for a fault. An empty request id is left out.
func New(f *fault.Error, requestID string) Answer {
	return WithStatus(StatusOf(f), f, requestID)
}

// StatusOf returns the status of a fault: that of its kind, or of its code if no kind
// has the status.
func StatusOf(f *fault.Error) int {
	switch {
	case Status(f.Kind) != 0:
		return Status(f.Kind)
	case f.Code == fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case f.Code == fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// WithStatus is New with the status of an answer that is passed on. Extra members of the
// fault never replace the standard ones.
func WithStatus(status int, f *fault.Error, requestID string) Answer {
	code := fault.CodeOf(f)
	members := map[string]any{}
	maps.Copy(members, f.Extra)
	maps.Copy(members, map[string]any{
		"type": TypeOf(code), "code": code, "title": http.StatusText(status), "status": status, "detail": f.Detail,
	})
	if requestID != "" {
		members["request_id"] = requestID
	}
	violations := f.Violations
	if len(violations) == 0 && f.Kind == fault.Invalid {
		violations = []fault.Violation{{Detail: f.Detail}} // of the whole document
	}
	if len(violations) > 0 {
		members["errors"] = violations
	}
	body, err := jsonx.Marshal(members)
	if err != nil { // only a member of Extra can fail to encode
		return New(Internal(), requestID)
	}
	return Answer{Status: status, Header: header(status, f), Body: body}
}

func header(status int, f *fault.Error) http.Header {
	h := http.Header{"Content-Type": {ContentType}}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if seconds := RetryAfter(status, f); seconds > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds))
	}
	return h
}

// RetryAfter returns after how many seconds to try again, at least one; 0 if the answer
// does not say it.
func RetryAfter(status int, f *fault.Error) int {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && f.RetryAfter <= 0 {
		return 0
	}
	return max(1, int(math.Ceil(f.RetryAfter.Seconds())))
}

// Write sends the response.
func (a Answer) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the caller may have disconnected
}

// Of returns the fault to send for an error. For an error that is not a fault it
// returns an internal one; expected is then false, and the error belongs in the log.
func Of(err error) (f *fault.Error, expected bool) {
	if errors.As(err, &f) && Status(f.Kind) != 0 {
		return f, true
	}
	return Internal(), false
}

// Internal returns the fault for errors whose details are not sent to callers.
func Internal() *fault.Error { return &fault.Error{Detail: "Internal error."} }

// Status returns the HTTP status of a kind of fault, 0 for an unknown kind.
func Status(k fault.Kind) int {
	switch k {
	case fault.Malformed:
		return http.StatusBadRequest
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Precondition:
		return http.StatusPreconditionFailed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.Busy:
		return http.StatusTooManyRequests
	}
	return 0
}

// Kind returns the kind of fault of a status, 0 if there is none.
func Kind(status int) fault.Kind {
	for k := fault.Malformed; Status(k) != 0; k++ {
		if Status(k) == status {
			return k
		}
	}
	return 0
}
