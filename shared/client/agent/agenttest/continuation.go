package agenttest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// InterruptedCall is the result of a call that was open when its worker was lost.
const InterruptedCall = `{"error":"the call was interrupted: it may or may not have been carried out, and its result is unknown"}`

// Continued is a request to continue a run whose answer was interrupted: the call a
// has a response, b has none, and l is long-running.
func Continued(t *testing.T) run.Request {
	t.Helper()
	req := Ask(t, "hi")
	req.Continuation = 2
	event := func(raw string, status session.EventStatus) session.Event {
		e := Event(t, raw)
		e.Status = status
		return e
	}
	req.Said = []session.Event{
		event(`{"id":"1","invocation_id":"run-1","author":"helper","long_running_tool_ids":["l"],"content":{"role":"model","parts":[`+
			`{"function_call":{"id":"a","name":"look","args":{}}},{"function_call":{"id":"b","name":"send","args":{"to":"bob"}}},`+
			`{"function_call":{"id":"l","name":"ask","args":{}}}]}}`, session.EventCompleted),
		event(`{"id":"2","invocation_id":"run-1","author":"helper","content":{"role":"user","parts":[`+
			`{"function_response":{"id":"a","name":"look","response":{"n":1}}}]}}`, session.EventCompleted),
		event(`{"id":"3","invocation_id":"run-1","author":"helper","content":{"role":"model","parts":[{"text":"It is"}]},`+
			`"error":{"code":"interrupted","message":"the worker was lost; the run continues"}}`, session.EventFailed),
	}
	return req
}

// Received returns a server that keeps the body of a request, and answers.
func Received(t *testing.T, into *map[string]any, answer http.HandlerFunc) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(into); err != nil {
			t.Error(err)
		}
		answer(rw, r)
	})
}
