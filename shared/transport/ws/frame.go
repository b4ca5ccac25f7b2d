package ws

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/observe/logs"
)

// Types of the frames that answer actions; for those of sessions see
// watch.Type.
const (
	TypeError        = "error"
	TypeSubscribed   = "subscribed"
	TypeUnsubscribed = "unsubscribed"
	TypePong         = "pong"
)

// Answer is a frame that answers an action. RequestID is the gateway's if the
// client sent none. Status to Errors are set in frames of the type error: a
// problem as in the HTTP API (RFC 9457).
type Answer struct {
	Type      string            `json:"type"`
	RequestID string            `json:"request_id"`
	SessionID string            `json:"session_id,omitempty"`
	Status    int               `json:"status,omitempty"`
	Code      fault.Code        `json:"code,omitempty"`
	Title     string            `json:"title,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Errors    []fault.Violation `json:"errors,omitempty"`
	// RetryAfter is after how many seconds to try again, of an error that may pass.
	RetryAfter int `json:"retry_after,omitempty"`
}

func answerFrames(kind string, act action) ([][]byte, error) {
	frame, err := jsonx.Marshal(Answer{Type: kind, RequestID: act.requestID, SessionID: act.sessionID})
	return [][]byte{frame}, err
}

// errorFrame turns an error into a frame. An error that is not a fault is
// logged and answered as an internal error without details.
func (a *api) errorFrame(ctx context.Context, act action, err error) []byte {
	f, expected := problem.Of(err)
	if !expected {
		a.Log.ErrorContext(ctx, "action failed", "error", err)
	}
	answer := Answer{
		Type: TypeError, RequestID: act.requestID, SessionID: act.sessionID,
		Status: problem.StatusOf(f), Code: fault.CodeOf(f), Detail: f.Detail, Errors: f.Violations,
	}
	logs.Add(ctx, slog.Int(logs.Status, answer.Status)) // the gateway always gets 200
	answer.Title, answer.RetryAfter = http.StatusText(answer.Status), problem.RetryAfter(answer.Status, f)
	frame, err := jsonx.Marshal(answer)
	if err != nil { // cannot fail: strings and numbers
		panic(err)
	}
	return frame
}
