package sse

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/transport/ws"
)

// refusal is the reason that no stream begins.
type refusal struct {
	status int
	fault  *fault.Error
	cause  error // logged only
}

func newRefusal(status int, code fault.Code, detail string) *refusal {
	return &refusal{status: status, fault: &fault.Error{Code: code, Detail: detail}}
}

// unavailable returns the refusal for a WebSocket API that cannot be reached.
func unavailable(cause error) *refusal {
	r := newRefusal(http.StatusServiceUnavailable, fault.Unavailable, "watching is not possible right now")
	r.cause = cause
	return r
}

// badRequest returns the refusal for an error of readRequest.
func badRequest(err error) *refusal {
	r := newRefusal(http.StatusBadRequest, fault.MalformedRequest, err.Error())
	var f *fault.Error
	if errors.As(err, &f) {
		r.fault.Violations = f.Violations
		r.fault.Code = fault.CodeOf(&fault.Error{Kind: fault.Malformed, Violations: f.Violations})
		if f.Code != "" {
			r.fault.Code = f.Code
		}
	}
	return r
}

// refusedAs returns the refusal for a fault, with the status of its kind.
func refusedAs(err error) *refusal {
	f, _ := problem.Of(err)
	return &refusal{status: problem.StatusOf(f), fault: f}
}

// refusedByAPI turns a refusal of the WebSocket API into one of this API.
// Members of a message that its errors point to are parameters here.
func refusedByAPI(a ws.Answer) *refusal {
	if a.Status < http.StatusBadRequest || a.Status > 599 {
		a.Status = http.StatusInternalServerError
	}
	r := newRefusal(a.Status, a.Code, a.Detail)
	r.fault.Kind = problem.Kind(a.Status)
	for _, v := range a.Errors {
		name := strings.TrimPrefix(v.Pointer, "/")
		r.fault.Detail = strings.ReplaceAll(r.fault.Detail, v.Pointer, name)
		r.fault.Violations = append(r.fault.Violations, fault.Violation{Pointer: name, Detail: v.Detail})
	}
	return r
}

// final reports whether another try cannot succeed.
func (r *refusal) final() bool {
	return r.status < http.StatusInternalServerError && r.status != http.StatusTooManyRequests
}

// refuse answers with a problem instead of a stream.
func (c Config) refuse(r *refusal, requestID string) *events.APIGatewayProxyStreamingResponse {
	p := problem.WithStatus(r.status, r.fault, requestID)
	answer := &events.APIGatewayProxyStreamingResponse{
		StatusCode: p.Status, Headers: c.headers(problem.ContentType), Body: bytes.NewReader(p.Body),
	}
	for name := range p.Header {
		answer.Headers[name] = p.Header.Get(name)
	}
	return answer
}
