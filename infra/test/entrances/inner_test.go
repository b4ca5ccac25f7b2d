package entrances_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
)

// texts are JSON that could not be stored as such, as a client sends it in a text.
func texts() map[string]string {
	nested := func(depth int) string {
		return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat("}", depth-1)
	}
	return map[string]string{
		"half of a character": `{"q":"x\ud99c"}`, "half in a name": `{"\udc00":1}`,
		"481 levels": nested(481), "600 levels": nested(600), "9,998 levels": nested(9_998), "20,000 levels": nested(20_000),
		"480 levels": nested(480), "a whole character": `{"q":"\ud83d\ude00"}`, "no JSON": `{"q":`, "an array": `[1]`,
	}
}

// inners are requests with JSON in a text, which TEXT stands for as a JSON string. They are
// sent in order.
func inners() map[string][]request {
	const (
		run   = "/api/v1/sessions/s/runs/RUN"
		delta = `{"item_id":"i","author":"a","deltas":[{"part":0,"function_call":{"id":"c1","name":"f","args_text":TEXT}}]}`
		said  = `{"conversation":"s","model":"helper","input":[%s,{"role":"user","content":"x"}],"background":true}`
		call  = `{"type":"function_call","call_id":"c2","name":"g","arguments":TEXT}`
	)
	return map[string][]request{
		"an item that a run's end completes": {post(run+"/deltas", delta), {method: http.MethodPatch, path: run, body: `{"status":"completed"}`}},
		"an item that an event completes": {
			post(run+"/deltas", delta), post(run+"/events", `{"events":[{"id":"i","author":"a"}]}`),
			{method: http.MethodPatch, path: run, body: `{"status":"completed"}`},
		},
		"an item that the next one completes": {
			post(run+"/deltas", delta), post(run+"/deltas", strings.Replace(delta, `"i"`, `"i2"`, 1)),
			{method: http.MethodPatch, path: run, body: `{"status":"completed"}`},
		},
		"a tool's message of AG-UI": {post("/agui/helper", `{"threadId":"s","runId":"r","messages":[{"id":"m","role":"tool","toolCallId":"c","content":TEXT}]}`)},
		"a tool's output of the AI SDK": {post("/ai-sdk/helper", `{"id":"s","messages":[{"id":"m","role":"assistant","parts":[`+
			`{"type":"dynamic-tool","toolName":"f","toolCallId":"c","state":"output-available","input":{},"output":TEXT}]}]}`)},
		"an output of Responses":         {post("/v1/responses", `{"model":"helper","conversation":"s","input":[{"type":"function_call_output","call_id":"c","output":TEXT}],"background":true}`)},
		"arguments of Responses":         {post("/v1/responses", fmt.Sprintf(said, call))},
		"arguments of an item":           {post("/v1/conversations/s/items", `{"items":[`+call+`]}`)},
		"a text of A2A":                  {rpc("/a2a/helper", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","contextId":"s","parts":[{"text":TEXT}]}}`)},
		"a message of a task":            {post("/api/v1/sessions/s/tasks", `{"task_id":"t","user_message":TEXT,"message_bubbles":[{"id":"b","type":"agent","text":TEXT}]}`)},
		"a text of an event":             {post("/api/v1/sessions/s/events", `{"events":[{"invocation_id":"i","author":"a","content":{"parts":[{"text":TEXT}]}}]}`)},
		"arguments as text of an event":  {post("/api/v1/sessions/s/events", `{"events":[{"invocation_id":"i","author":"a","content":{"parts":[{"function_call":{"name":"f","args_text":TEXT}}]}}]}`)},
		"a text of an initial state":     {post("/api/v1/sessions", `{"id":"s2","state":{"a":TEXT}}`)},
		"a text of a session's metadata": {{method: http.MethodPatch, path: "/api/v1/sessions/s", body: `{"metadata":{"a":TEXT}}`}},
	}
}

// What is stored can be exported and imported again, wherever it came from.
func TestInner_JSON_can_be_imported_again(t *testing.T) {
	cases, stored := 0, 0
	for place, requests := range inners() {
		for shape, text := range texts() {
			cases++
			t.Run(place+", "+shape, func(t *testing.T) {
				s := newSystem(t)
				runID := s.withCall(t, strings.Contains(requests[0].path, "RUN"))
				quoted, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range requests {
					r.path = strings.Replace(r.path, "RUN", runID, 1)
					r.body = strings.ReplaceAll(r.body, "TEXT", string(quoted))
					if status, body := s.do(t, r); status >= http.StatusInternalServerError {
						t.Errorf("%s: got %d %.300s", r.path, status, body)
					} else if status < http.StatusBadRequest {
						stored++
					}
				}
				s.reimport(t)
			})
		}
	}
	if want := 14 * 10; cases < want || stored < cases {
		t.Errorf("%d cases with %d requests that were accepted, want %d", cases, stored, want)
	}
}

// withCall creates the session s, whose last event is a call that waits for the client;
// with a run that goes on elsewhere, if that is wanted.
func (s *system) withCall(t *testing.T, running bool) (runID string) {
	t.Helper()
	s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"s","agent":"helper"}`))
	s.must(t, http.StatusCreated, post("/api/v1/sessions/s/events", `{"events":[{"id":"q","invocation_id":"r0","author":"user","content":{"role":"user","parts":[{"text":"hi"}]}},`+
		`{"id":"m","invocation_id":"r0","author":"helper","long_running_tool_ids":["c"],"content":{"role":"model","parts":[{"function_call":{"id":"c","name":"f","args":{}}}]}}]}`))
	if !running {
		return ""
	}
	return s.external(t, "s")
}

// reimport exports the session and imports the archive as another user, after which both
// have the same events.
func (s *system) reimport(t *testing.T) {
	t.Helper()
	archive := s.must(t, http.StatusOK, get("/api/v1/sessions/s/export"))
	before := s.events(t)
	s.must(t, http.StatusNoContent, del("/api/v1/sessions/s"))
	s.must(t, http.StatusCreated, post("/api/v1/sessions/import", archive))
	after := s.events(t)
	if strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("the import has %.2000s\nwant %.2000s", after, before)
	}
}

func (s *system) events(t *testing.T) (out []string) {
	t.Helper()
	page, err := s.store.Sessions.Events(t.Context(), alice, "s", session.EventQuery{View: session.All, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		out = append(out, string(e.Own()))
	}
	return out
}
