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

// Types of the frames that answer actions; those of sessions are watch.Type.
const (
	TypeError        = "error"
	TypeSubscribed   = "subscribed"
	TypeUnsubscribed = "unsubscribed"
	TypePong         = "pong"
)

// Answer is a frame that answers an action; RequestID is the gateway's where
// the client gave none. Status to Errors are of those of the type error: a
// problem as the HTTP API has it (RFC 9457).
type Answer struct {
	Type      string            `json:"type"`
	RequestID string            `json:"request_id"`
	SessionID string            `json:"session_id,omitempty"`
	Status    int               `json:"status,omitempty"`
	Title     string            `json:"title,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Errors    []fault.Violation `json:"errors,omitempty"`
}

func answerFrames(kind string, act action) ([][]byte, error) {
	frame, err := jsonx.Marshal(Answer{Type: kind, RequestID: act.requestID, SessionID: act.sessionID})
	return [][]byte{frame}, err
}

// errorFrame turns an error into a frame. What is no fault is an internal
// error: its details go to the log and never to the client.
func (a *api) errorFrame(ctx context.Context, act action, err error) []byte {
	f, expected := problem.Of(err)
	if !expected {
		a.Log.ErrorContext(ctx, "action failed", "error", err)
	}
	answer := Answer{
		Type: TypeError, RequestID: act.requestID, SessionID: act.sessionID,
		Status: problem.Status(f.Kind), Detail: f.Detail, Errors: f.Violations,
	}
	if answer.Status == 0 {
		answer.Status = http.StatusInternalServerError
	}
	logs.Add(ctx, slog.Int(logs.Status, answer.Status)) // the gateway is told 200 whatever happens
	answer.Title = http.StatusText(answer.Status)
	frame, err := jsonx.Marshal(answer)
	if err != nil { // these are strings and numbers
		panic(err)
	}
	return frame
}
