package adk_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/adk"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// adkRequest returns the request of run-1 with a history, then an input.
func adkRequest(t *testing.T, input string, history ...string) run.Request {
	t.Helper()
	req := agenttest.Ask(t)
	for _, raw := range append(history, input) {
		req.Events = append(req.Events, agenttest.Event(t, raw))
	}
	req.State = session.Values{"a": json.RawMessage("1"), "user:l": json.RawMessage(`"en"`), "temp:x": json.RawMessage("1")}
	return req
}

func saidIn(invocation, author, role, parts string, more ...string) string {
	return `{"id":"` + invocation + `-` + author + `","invocation_id":"` + invocation + `","author":"` + author + `","content":{"role":"` + role + `","parts":[` + parts + `]}` + strings.Join(more, "") + `}`
}

func TestSession(t *testing.T) {
	server := &adkServer{stream: adkStream(adkSaid("e1", `{"text":"a"}`))}
	req := adkRequest(t,
		saidIn("run-1", "user", "user", `{"text":"and this?"},{"inline_data":{"mime_type":"image/png","display_name":"d.png","data":"/+8="}},{"file_data":{"mime_type":"a/b","file_uri":"https://x"}}`),
		saidIn("r0", "user", "user", `{"text":"hi"}`),
		saidIn("r0", "helper", "model", `{"text":"hm","thought":true,"thought_signature":"/+8="},{"function_call":{"id":"c","name":"f","args":{"aB":1}}}`, `,"branch":"x","long_running_tool_ids":["c"],"actions":{"state_delta":{"a":1}},"finish_reason":"odd","chat_completions":{}`),
		saidIn("r0", "user", "user", `{"function_response":{"id":"c","name":"f","response":{"rS":2}}},{"odd":1}`),
		saidIn("r0", "helper", "assistant", `{"text":"b"}`),
		`{"invocation_id":"r0","author":"helper","actions":{"state_delta":{"a":1}}}`,
		saidIn("r0", "helper", "model", `{"text":"file"}`, `,"adk":{"artifact":{"name":"x","version":1}}`),
	)
	agenttest.MustRecord(t, newADK(t, server), req)
	var want map[string]any
	if err := json.Unmarshal([]byte(`{
		"state": {"a": 1, "user:l": "en"},
		"events": [
			{"id":"r0-user","invocationId":"r0","author":"user","content":{"role":"user","parts":[{"text":"hi"}]}},
			{"id":"r0-helper","invocationId":"r0","author":"helper","branch":"x","content":{"role":"model","parts":[
				{"text":"hm","thought":true,"thoughtSignature":"/+8="},{"functionCall":{"id":"c","name":"f","args":{"aB":1}}}]}},
			{"id":"r0-user","invocationId":"r0","author":"user","content":{"role":"user","parts":[
				{"functionResponse":{"id":"c","name":"f","response":{"rS":2}}},{"text":"{\"odd\":1}"}]}},
			{"id":"r0-helper","invocationId":"r0","author":"helper","content":{"role":"model","parts":[{"text":"b"}]}}
		]}`), &want); err != nil {
		t.Fatal(err)
	}
	created := server.created[0]
	id, _ := created["sessionId"].(string)
	delete(created, "sessionId")
	events, _ := created["events"].([]any)
	created["events"] = events[:4] // run has appended others
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{
		"appName": "trips", "userId": "alice", "sessionId": id, "streaming": true,
		"newMessage": map[string]any{"role": "user", "parts": []any{
			map[string]any{"text": "and this?"},
			map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "displayName": "d.png", "data": "/+8="}},
			map[string]any{"fileData": map[string]any{"mimeType": "a/b", "fileUri": "https://x"}},
		}},
	}, server.runs[0]); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
}

func TestRepeatedJobReplacesItsSession(t *testing.T) {
	server := &adkServer{stream: adkStream(adkSaid("e1", `{"text":"a"}`))}
	var dead atomic.Bool // the first worker dies before it has cleaned up
	dead.Store(true)
	server.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete && dead.Load() {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	a := newADK(t, server)
	agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
	dead.Store(false)
	agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
	first, _ := server.runs[0]["sessionId"].(string)
	id := shortID(first)
	want := []string{"create " + id, "run " + id, "create " + id, "delete " + id, "create " + id, "run " + id, "delete " + id}
	if diff := cmp.Diff(want, server.calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// nextADK returns the request of the next run: the history of the one before, what the
// agent said, and an input.
func nextADK(t *testing.T, before run.Request, r *agenttest.Recorder, runID string, input ...string) run.Request {
	t.Helper()
	req := before
	req.RunID = runID
	req.Events = append([]session.Event{}, before.Events...)
	for i, e := range r.Events {
		raw, err := jsonx.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		stored := agenttest.Event(t, string(raw))
		if stored.ID == "" {
			stored.ID = fmt.Sprintf("%s-%d", before.RunID, i)
		}
		req.Events = append(req.Events, stored)
	}
	for _, raw := range input {
		req.Events = append(req.Events, agenttest.Event(t, raw))
	}
	return req
}

const (
	adkAsks = `{"functionCall":{"id":"adk-2","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"adk-1","name":"drop"}}}}`
	adkYes  = `{"function_response":{"id":"adk-2","name":"adk_request_confirmation","response":{"confirmed":true}}}`
)

// asksADK has an agent ask for a confirmation; its server keeps the session.
func asksADK(t *testing.T) (*adkServer, *adk.Agent, run.Request, *agenttest.Recorder) {
	t.Helper()
	server := &adkServer{stream: adkStream(
		adkSaid("e1", `{"functionCall":{"id":"adk-1","name":"drop","args":{}}}`),
		adkSaid("e2", adkAsks, `,"longRunningToolIds":["adk-2"]`),
		adkSaid("e3", `{"functionResponse":{"id":"adk-1","name":"drop","response":{"error":"requires confirmation"}}}`),
	)}
	a := newADK(t, server)
	req := adkRequest(t, saidIn("run-1", "user", "user", `{"text":"drop it"}`))
	r := agenttest.MustRecord(t, a, req)
	if len(server.sessions) != 1 {
		t.Fatalf("no session is kept: %q", server.calls)
	}
	server.calls, server.stream = nil, adkStream(adkSaid("e4", `{"functionResponse":{"id":"adk-1","name":"drop","response":{"done":1}}}`), adkSaid("e5", `{"text":"done"}`))
	return server, a, req, r
}

// run2 runs the agent once more, for an input after its question.
func run2(t *testing.T, a *adk.Agent, req run.Request) {
	t.Helper()
	err := a.Run(t.Context(), req, func(run.Output) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnswerToAQuestion(t *testing.T) {
	first := func(server *adkServer) map[string]any { return server.runs[len(server.runs)-1] }
	kindsOf := func(server *adkServer) string {
		var kinds []string
		for _, call := range server.calls {
			kind, _, _ := strings.Cut(call, " ")
			kinds = append(kinds, kind)
		}
		return strings.Join(kinds, " ")
	}
	t.Run("reaches the session that asked, with the state as it is now", func(t *testing.T) {
		server, a, req, r := asksADK(t)
		next := nextADK(t, req, r, "run-2", saidIn("run-2", "user", "user", adkYes))
		next.State = session.Values{"b": json.RawMessage("2"), "user:l": json.RawMessage(`"en"`)}
		run2(t, a, next)
		got := first(server)
		if got["sessionId"] != server.runs[0]["sessionId"] || kindsOf(server) != "get run delete" {
			t.Errorf("calls %q", server.calls)
		}
		if diff := cmp.Diff(map[string]any{"a": nil, "b": 2.0}, got["stateDelta"]); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
	})
	inNewSession := func(t *testing.T, server *adkServer, message string) {
		t.Helper()
		got, err := json.Marshal(first(server)["newMessage"])
		if err != nil {
			t.Fatal(err)
		}
		if first(server)["sessionId"] == server.runs[0]["sessionId"] || !strings.Contains(string(got), message) {
			t.Errorf("calls %q, message %s", server.calls, got)
		}
	}
	const inWords = `[response of adk_request_confirmation: {\"confirmed\":true}]`
	t.Run("is put in words after a rewind of an earlier answer", func(t *testing.T) {
		server, a, req, r := asksADK(t)
		server.stream = adkStream(adkSaid("e4", strings.ReplaceAll(adkAsks, "adk-2", "adk-3"), `,"longRunningToolIds":["adk-3"]`))
		run2(t, a, nextADK(t, req, r, "run-2", saidIn("run-2", "user", "user", adkYes)))
		server.stream = adkStream(adkSaid("e5", `{"text":"done"}`))
		run2(t, a, nextADK(t, req, r, "run-3", saidIn("run-3", "user", "user", adkYes)))
		inNewSession(t, server, inWords)
		if len(server.sessions) != 0 {
			t.Errorf("sessions are left: %q", server.calls)
		}
	})
	t.Run("is put in words in a fork", func(t *testing.T) {
		server, a, req, r := asksADK(t)
		next := nextADK(t, req, r, "run-2", saidIn("run-2", "user", "user", adkYes))
		next.SessionID = "fork"
		run2(t, a, next)
		inNewSession(t, server, inWords)
		if len(server.sessions) != 1 {
			t.Errorf("the original's session is not kept: %q", server.calls)
		}
	})
	t.Run("is put in words in a session that was created again", func(t *testing.T) {
		server, a, req, r := asksADK(t)
		next := nextADK(t, req, r, "run-2", saidIn("run-2", "user", "user", adkYes))
		next.LogID = "again"
		run2(t, a, next)
		inNewSession(t, server, inWords)
	})
	t.Run("is put in words when the server has lost the session", func(t *testing.T) {
		server, a, req, r := asksADK(t)
		server.sessions = nil
		run2(t, a, nextADK(t, req, r, "run-2", saidIn("run-2", "user", "user", adkYes)))
		inNewSession(t, server, inWords)
	})
	t.Run("does not come: the session is deleted", func(t *testing.T) {
		server, a, req, r := asksADK(t)
		run2(t, a, nextADK(t, req, r, "run-2", saidIn("run-2", "user", "user", `{"text":"never mind"}`)))
		inNewSession(t, server, "never mind")
		if len(server.sessions) != 0 || kindsOf(server) != "create run delete delete" {
			t.Errorf("sessions are left: %q", server.calls)
		}
	})
	t.Run("to an ordinary call of the history stays a response", func(t *testing.T) {
		server := &adkServer{stream: adkStream(adkSaid("e1", `{"text":"a"}`))}
		run2(t, newADK(t, server), adkRequest(t,
			saidIn("run-1", "user", "user", `{"function_response":{"id":"c","name":"f"}},{"text":"and"}`),
			saidIn("r0", "helper", "model", `{"function_call":{"id":"c","name":"f"}}`),
		))
		created, err := json.Marshal(server.created[0]["events"])
		if err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(first(server)["newMessage"])
		if !strings.Contains(string(created), `"functionResponse":{"id":"c","name":"f","response":{}}`) || string(got) != `{"parts":[{"text":"and"}],"role":"user"}` {
			t.Errorf("session %s, message %s", created, got)
		}
	})
}

// A run that goes on after its worker was lost tells the agent what it has said, and
// which calls got no response.
func TestGoesOn(t *testing.T) {
	goOn := func(t *testing.T, said ...string) (*agenttest.Recorder, *adkServer) {
		t.Helper()
		server := &adkServer{stream: adkStream(adkSaid("e1", `{"text":"a"}`))}
		req := adkRequest(t, saidIn("run-1", "user", "user", `{"text":"go"}`))
		req.Continuation = 1
		for _, raw := range said {
			req.Said = append(req.Said, agenttest.Event(t, raw))
		}
		return agenttest.MustRecord(t, newADK(t, server), req), server
	}
	sent := func(t *testing.T, v any) string {
		t.Helper()
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	t.Run("after a call without a response", func(t *testing.T) {
		r, server := goOn(t, saidIn("run-1", "helper", "model", `{"text":"I look"},{"function_call":{"id":"c","name":"f"}}`, `,"actions":{"state_delta":{"b":2}}`))
		created := sent(t, server.created[0])
		for _, want := range []string{`"text":"go"`, `"text":"I look"`, `"functionResponse":{"id":"c","name":"f","response":` + agenttest.InterruptedCall + `}`, `"b":2`} {
			if !strings.Contains(created, want) {
				t.Errorf("session %s lacks %s", created, want)
			}
		}
		if got := sent(t, server.runs[0]["newMessage"]); !strings.Contains(got, "interrupted") {
			t.Errorf("message %s", got)
		}
		if len(r.Events) != 2 || !strings.Contains(string(r.Events[0].Own()), agenttest.InterruptedCall) {
			t.Errorf("the session's call stays open: %q", r.Log)
		}
	})
	t.Run("before it has said anything", func(t *testing.T) {
		r, server := goOn(t)
		if got := sent(t, server.runs[0]["newMessage"]); !strings.Contains(got, `"text":"go"`) || !strings.Contains(got, "interrupted") || len(r.Events) != 1 {
			t.Errorf("message %s, events %q", got, r.Log)
		}
	})
	t.Run("not after a question: only the end of the run was lost", func(t *testing.T) {
		r, server := goOn(t, saidIn("run-1", "helper", "model", `{"function_call":{"id":"l","name":"ask"}}`, `,"long_running_tool_ids":["l"]`))
		if len(server.calls) != 0 || len(r.Log) != 0 {
			t.Errorf("calls %q, output %q", server.calls, r.Log)
		}
	})
}

func TestInputWithoutContent(t *testing.T) {
	_, err := agenttest.Record(t, newADK(t, &adkServer{}), adkRequest(t, `{"invocation_id":"run-1","author":"user","actions":{"state_delta":{"a":1}}}`))
	agenttest.WantError(t, err, run.CodeContent, "no content")
}
