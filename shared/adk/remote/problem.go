package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// maxWait is the longest Retry-After that is waited for.
const maxWait = 10 * time.Second

// failure makes an error of an answer that tells of none or of failure: the
// fault that the API had, or a plain error where the API or a gateway failed.
func failure(res *http.Response, body []byte) error {
	var members map[string]any
	if json.Unmarshal(body, &members) != nil {
		members = nil
	}
	detail, _ := members["detail"].(string)
	if detail == "" {
		detail = fmt.Sprintf("%s: %.200q", res.Status, body)
	}
	kind := problem.Kind(res.StatusCode)
	if kind == 0 {
		return fmt.Errorf("status %d: %s (request %v)", res.StatusCode, detail, members["request_id"])
	}
	f := &fault.Error{Kind: kind, Detail: detail, RetryAfter: retryAfter(res.Header)}
	for name, v := range members {
		switch name {
		case "type", "title", "status", "detail":
		default:
			f = f.With(name, v)
		}
	}
	return f
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
