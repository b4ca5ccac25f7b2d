// Package agenttest plays agents' servers for tests and records what their callers
// output.
package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/chat"
	"github.com/rethread/rethread/shared/client/agent/httpagent"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Patient returns timeouts that no test reaches, and retries without waits.
func Patient() agentconfig.Timeouts {
	const long = 5 * time.Minute
	return agentconfig.Timeouts{Connect: long, FirstByte: long, Idle: long, Backoff: time.Millisecond}
}

// Serve starts a server for the time of a test and returns its address.
func Serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// Says returns a server with one answer.
func Says(mediaType, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		rw.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(rw, body)
	}
}

// Streams returns a server whose only answer is a stream of server-sent events.
func Streams(body string) http.HandlerFunc { return Says("text/event-stream", body) }

// NewHTTP returns an agent of the kind http at a server, with timeouts that it does not
// reach.
func NewHTTP(t *testing.T, h http.Handler) *httpagent.Agent {
	t.Helper()
	return NewHurriedHTTP(t, h, Patient())
}

// NewHurriedHTTP is NewHTTP with other timeouts.
func NewHurriedHTTP(t *testing.T, h http.Handler, timeouts agentconfig.Timeouts) *httpagent.Agent {
	t.Helper()
	a := httpagent.New(agentconfig.Endpoint{URL: Serve(t, h), Timeouts: timeouts})
	t.Cleanup(a.Close)
	return a
}

// Event parses an event.
func Event(t *testing.T, raw string) session.Event {
	t.Helper()
	e, err := session.ParseEvent(json.RawMessage(raw), "")
	if err != nil {
		t.Fatalf("parse %s: %v", raw, err)
	}
	return e
}

// OfFrontEnd is the input of a run whose front end offers tools, one of them under the
// name of a configured one, and more.
const OfFrontEnd = `{"invocation_id":"run-1","author":"user","content":{"role":"user","parts":[{"text":"hi"}]},` +
	`"ag_ui_input":{"message_id":"m","tools":[{"name":"pick","description":"d"},{"name":"own"},{"description":"no name"}],` +
	`"context":[{"description":"page","value":"home"}],"forwarded_props":{"mode":"slow","theme":"dark","rethread":{"x":1}}}}`

// OfResponses is the input of a run whose front end sent every parameter of the Responses
// API that models obey, with a tool and instructions.
const OfResponses = `{"invocation_id":"run-1","author":"user","content":{"role":"user","parts":[{"text":"hi"}]},` +
	`"ag_ui_input":{"instructions":"Answer in French.","tools":[{"name":"pick","description":"d","strict":true}],` +
	`"tool_choice":{"type":"function","name":"pick"},"parallel_tool_calls":false,"parameters":{` +
	`"temperature":0.5,"top_p":0.9,"presence_penalty":0.1,"frequency_penalty":0.2,"max_output_tokens":50,"truncation":"auto",` +
	`"reasoning":{"effort":"low","summary":"auto"},"text":{"verbosity":"low",` +
	`"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}},"unknown":1}}}`

// Ask returns a request whose input is one text of the user.
func Ask(t *testing.T, texts ...string) run.Request {
	t.Helper()
	req := run.Request{RunID: "run-1", SessionID: "s", LogID: "log", AppName: "app", UserID: "alice", Agent: "helper"}
	for _, text := range texts {
		raw, err := json.Marshal(map[string]any{
			"invocation_id": "run-1", "author": "user",
			"content": map[string]any{"role": "user", "parts": []any{map[string]string{"text": text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		req.Events = append(req.Events, Event(t, string(raw)))
	}
	return req
}

// ErrStopped is the cause with which tests cancel a run.
var ErrStopped = errors.New("the receiver has had enough")

// CancelledBy returns a context that ends with the given cause.
func CancelledBy(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

// NewChat returns an agent of the kind chat_completions at a server.
func NewChat(t *testing.T, h http.Handler, c agentconfig.Chat) *chat.Agent {
	t.Helper()
	a := chat.New(agentconfig.Endpoint{URL: Serve(t, h) + "/v1/", Timeouts: Patient()}, c)
	t.Cleanup(a.Close)
	return a
}
