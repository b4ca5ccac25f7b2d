package rethread

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The reasons of failed calls, for errors.Is.
var (
	ErrInvalid            = errors.New("the request is malformed or breaks a rule") // 400, 422
	ErrMalformed          = errors.New("the request is malformed")                  // 400, which is also ErrInvalid
	ErrRuleBroken         = errors.New("the request breaks a rule")                 // 422, which is also ErrInvalid
	ErrUnauthorized       = errors.New("the token is not accepted")                 // 401, also after it was renewed
	ErrForbidden          = errors.New("no access")                                 // 403
	ErrNotFound           = errors.New("not found")                                 // 404
	ErrConflict           = errors.New("conflict with the current state")           // 409
	ErrDeleted            = errors.New("the session was deleted")                   // 410, only of Watch
	ErrPreconditionFailed = errors.New("the resource has changed")                  // 412
	ErrTooLarge           = errors.New("a size limit is exceeded")                  // 413
	ErrRateLimited        = errors.New("too many requests")                         // 429
	ErrUnavailable        = errors.New("the server cannot answer")                  // 502, 503, 504
	// ErrConnection and ErrTimeout mean that no answer arrived: it is unknown whether a
	// write was executed.
	ErrConnection = errors.New("no answer")
	ErrTimeout    = errors.New("no answer in time")
)

// FieldError is one rule that a request broke.
type FieldError struct {
	// Pointer is a JSON pointer to the member of the body, or the name of a parameter.
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Error is a failed request. It wraps its code and the sentinel error of its status.
type Error struct {
	// Status is the HTTP status; 0 if no answer arrived.
	Status int
	// Code is the cause, as in docs/errors.md, or what the gateway's status means; "" if
	// unknown.
	Code CodeError
	// Type, Title and Detail are those of the problem document (RFC 9457). Detail is
	// never empty.
	Type, Title, Detail string
	// Errors lists all rules that the request broke.
	Errors []FieldError
	// RetryAfter is the time after which the server expects another attempt to succeed;
	// 0 if unknown.
	RetryAfter time.Duration
	// RequestID is the id of the request in the server's log; "" if unknown.
	RequestID string
	// Members are the other members of the problem, such as run_id, event_id and
	// head_seq of a conflict.
	Members map[string]any

	retryAfter bool // whether the answer had the header Retry-After
	cause      error
}

// Error returns the detail of the problem, and the id of the request if the server's log
// has more about it.
func (e *Error) Error() string {
	if e.Status >= http.StatusInternalServerError && e.RequestID != "" {
		return fmt.Sprintf("%s (request %s)", e.Detail, e.RequestID)
	}
	return e.Detail
}

// Unwrap returns the code, the sentinel errors of the status, and the cause of a failed
// connection.
func (e *Error) Unwrap() []error {
	out := kindsOf(e.Status)
	if e.Code != "" {
		out = append(out, e.Code)
	}
	if e.cause != nil {
		out = append(out, e.cause)
	}
	return out
}

// temporary reports whether it is unknown or unlikely that the request was executed.
func (e *Error) temporary() bool {
	return e.Status == 0 || errors.Is(e, ErrUnavailable)
}

// kindsOf returns the sentinel errors of a status, none if it has none.
func kindsOf(status int) []error {
	switch status {
	case http.StatusBadRequest:
		return []error{ErrInvalid, ErrMalformed}
	case http.StatusUnprocessableEntity:
		return []error{ErrInvalid, ErrRuleBroken}
	}
	if kind := kindOf(status); kind != nil {
		return []error{kind}
	}
	return nil
}

func kindOf(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusConflict:
		return ErrConflict
	case http.StatusGone:
		return ErrDeleted
	case http.StatusPreconditionFailed:
		return ErrPreconditionFailed
	case http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case http.StatusTooManyRequests:
		return ErrRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnavailable
	}
	return nil
}

// codeOf returns what the gateway means by a status where it answers without a code.
func codeOf(status int) CodeError {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return ErrRouteNotFound
	case http.StatusRequestEntityTooLarge:
		return ErrBodyTooLarge
	case http.StatusTooManyRequests:
		return "rate_limited"
	case http.StatusInternalServerError:
		return ErrInternalError
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "unavailable"
	}
	return ""
}

// maxProblem is the number of bytes of an error's body that are read.
const maxProblem = 1 << 20

// errorOf returns the error that a response describes, or its status if the body does
// not. It closes the body.
func errorOf(res *http.Response) error {
	defer res.Body.Close() //nolint:errcheck // nothing depends on it
	out := &Error{Status: res.StatusCode, Type: "about:blank"}
	out.RetryAfter, out.retryAfter = parseRetryAfter(res.Header.Get("Retry-After"), time.Now())
	body, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	if err == nil {
		out.describe(body)
	}
	if out.Code == "" {
		out.Code = codeOf(res.StatusCode)
	}
	if out.Detail == "" {
		out.Detail = out.Title
	}
	if out.Detail == "" {
		out.Detail = fmt.Sprintf("the server answered %d", res.StatusCode)
	}
	return out
}

// describe takes the members of a problem document, or of the gateway's own error
// {"message": …}.
func (e *Error) describe(body []byte) {
	var members map[string]any
	if json.Unmarshal(body, &members) != nil {
		return // not JSON: of something between client and server
	}
	var list struct {
		Errors []FieldError `json:"errors"`
	}
	if json.Unmarshal(body, &list) == nil {
		e.Errors = list.Errors
	}
	text := func(name string) string {
		value, _ := members[name].(string)
		delete(members, name)
		return value
	}
	if kind := text("type"); kind != "" {
		e.Type = kind
	}
	e.Code = CodeError(text("code"))
	e.Title, e.Detail, e.RequestID = text("title"), text("detail"), text("request_id")
	if message := text("message"); e.Detail == "" {
		e.Detail = message
	}
	delete(members, "errors")
	delete(members, "status")
	e.Members = members
}

// parseRetryAfter returns the time in a header Retry-After, in seconds or a date, and
// whether it has one.
func parseRetryAfter(header string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

// noAnswer returns the error of a connection that failed, without the address, which
// may contain a token.
func noAnswer(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return &Error{Detail: "the server cannot be reached: " + err.Error(), cause: errors.Join(ErrConnection, err)}
}
