package sse

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/transport/ws"
)

// retryAfter is when to come back to a service that is busy, in seconds.
const retryAfter = 1

// problem is why there is no stream, as RFC 9457 has it.
type problem struct {
	Type      string            `json:"type"`
	Title     string            `json:"title"`
	Status    int               `json:"status"`
	Detail    string            `json:"detail"`
	RequestID string            `json:"request_id"`
	Errors    []fault.Violation `json:"errors,omitempty"`
	*full

	cause error         // for the log alone
	retry time.Duration // when to come back, if not after retryAfter
}

// full says which quota is.
type full struct {
	Quota any `json:"quota"`
	Limit any `json:"limit"`
	Used  any `json:"used"`
}

// problemFull is the problem of a user who has as many streams as may be, or who
// opens too many at once.
func problemFull(f *fault.Error) *problem {
	p := newProblem(http.StatusTooManyRequests, f.Detail)
	p.retry = f.RetryAfter
	if name, ok := f.Extra["quota"]; ok {
		p.full = &full{name, f.Extra["limit"], f.Extra["used"]}
	}
	return p
}

func newProblem(status int, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// unavailable is the problem of a WebSocket API that cannot be reached.
func unavailable(cause error) *problem {
	p := newProblem(http.StatusServiceUnavailable, "watching is not possible right now")
	p.cause = cause
	return p
}

// problemOf is the problem of a request that readRequest refused.
func problemOf(err error) *problem {
	p := newProblem(http.StatusBadRequest, err.Error())
	var f *fault.Error
	if errors.As(err, &f) {
		p.Errors = f.Violations
	}
	return p
}

// problemAnswered is the problem that the WebSocket API answered. What it names
// as members of its message are parameters here.
func problemAnswered(a ws.Answer) *problem {
	if a.Status < http.StatusBadRequest || a.Status > 599 {
		a.Status = http.StatusInternalServerError
	}
	p := newProblem(a.Status, a.Detail)
	for _, v := range a.Errors {
		name := strings.TrimPrefix(v.Pointer, "/")
		p.Detail = strings.ReplaceAll(p.Detail, v.Pointer, name)
		p.Errors = append(p.Errors, fault.Violation{Pointer: name, Detail: v.Detail})
	}
	return p
}

func (p *problem) body(requestID string) io.Reader {
	p.RequestID = requestID
	text, err := jsonx.Marshal(p)
	if err != nil { // these are strings and numbers
		panic(err)
	}
	return bytes.NewReader(text)
}

// final reports whether trying again cannot help.
func (p *problem) final() bool {
	return p.Status < http.StatusInternalServerError && p.Status != http.StatusTooManyRequests
}
