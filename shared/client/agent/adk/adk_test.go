package adk_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

func TestAnswers(t *testing.T) {
	const (
		text    = `{"text":"ab"}`
		partial = `,"partial":true`
		begun   = "item e1 helper model"
		call    = `{"functionCall":{"id":"adk-1","name":"ask","args":{"camelCase":9007199254740993}}}`
		stored  = `{"function_call":{"args":{"camelCase":9007199254740993},"id":"adk-1","name":"ask"}}`
	)
	kept := func(id, parts, more string) string {
		return `{"id":"` + id + `","invocation_id":"run-1","author":"helper","content":{"parts":[` + parts + `],"role":"model"}` + more + `,"timestamp":1.5}`
	}
	for name, c := range map[string]struct {
		sent []string
		want []string
	}{
		"text in pieces": {
			[]string{adkSaid("e1", `{"text":"a"}`, partial), adkSaid("e1", `{"text":"b"}`, partial), adkSaid("e1", text)},
			[]string{begun, `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"b"}`, "completed " + kept("e1", text, "")},
		},
		"thinking before text": {
			[]string{adkSaid("e1", `{"text":"hm","thought":true}`, partial), adkSaid("e1", `{"text":"ab"}`, partial), adkSaid("e1", `{"text":"hm","thought":true,"thoughtSignature":"_-8="},`+text)},
			[]string{
				begun, `delta {"part":0,"thought":true,"text":"hm"}`, `delta {"part":1,"text":"ab"}`,
				"completed " + kept("e1", `{"text":"hm","thought":true,"thought_signature":"/+8="},`+text, ""),
			},
		},
		"a whole event with another id than its pieces": {
			[]string{adkSaid("e1", `{"text":"ab"}`, partial), adkSaid("e2", text)},
			[]string{begun, `delta {"part":0,"text":"ab"}`, "completed " + kept("e1", text, "")},
		},
		"an event without pieces": {[]string{adkSaid("e1", text)}, []string{"event " + kept("e1", text, "")}},
		"state, without temporary keys": {
			[]string{adkSaid("e1", text, `,"actions":{"stateDelta":{"camelCase":{"innerName":1},"temp:x":1,"user:l":null},"artifactDelta":{}}`)},
			[]string{"event " + `{"id":"e1","invocation_id":"run-1","author":"helper","actions":{"state_delta":{"camelCase":{"innerName":1},"user:l":null}},"content":{"parts":[` + text + `],"role":"model"},"timestamp":1.5}`},
		},
		"a call and its response": {
			[]string{adkSaid("e1", call, `,"longRunningToolIds":[]`), adkSaid("e2", `{"functionResponse":{"id":"adk-1","name":"ask","response":{"someValue":1}}}`), adkSaid("e3", text)},
			[]string{
				"event " + kept("e1", stored, ""),
				"event " + kept("e2", `{"function_response":{"id":"adk-1","name":"ask","response":{"someValue":1}}}`, ""),
				"event " + kept("e3", text, ""),
			},
		},
		"another agent to which it transfers": {
			[]string{adkSaid("e1", text, `,"actions":{"transferToAgent":"other","stateDelta":{}}`), strings.ReplaceAll(adkSaid("e2", text), "helper", "other")},
			[]string{
				`event {"id":"e1","invocation_id":"run-1","author":"helper","actions":{"transfer_to_agent":"other"},"content":{"parts":[` + text + `],"role":"model"},"timestamp":1.5}`,
				strings.ReplaceAll("event "+kept("e2", text, ""), "helper", "other"),
			},
		},
		"agents that speak at once": {
			[]string{
				adkSaid("e1", `{"text":"a"}`, partial), strings.ReplaceAll(adkSaid("e2", `{"text":"c"}`, partial), "helper", "other"),
				strings.ReplaceAll(adkSaid("e2", `{"text":"cd"}`), "helper", "other"), adkSaid("e1", `{"text":"b"}`, partial), adkSaid("e1", text),
			},
			[]string{
				begun, `delta {"part":0,"text":"a"}`, `delta {"part":0,"text":"b"}`, "completed " + kept("e1", text, ""),
				strings.ReplaceAll("event "+kept("e2", `{"text":"cd"}`, ""), "helper", "other"),
			},
		},
		"an error after which the agent goes on": {
			[]string{adkSaid("e1", "", `,"errorCode":"MAX_TOKENS","errorMessage":"m"`), adkSaid("e2", text)},
			[]string{
				"event " + `{"id":"e1","invocation_id":"run-1","author":"helper","content":{"parts":[],"role":"model"},"error_code":"MAX_TOKENS","error_message":"m","timestamp":1.5}`,
				"event " + kept("e2", text, ""),
			},
		},
		"an event with nothing in it is left out": {[]string{adkSaid("e0", ""), adkSaid("e1", text)}, []string{"event " + kept("e1", text, "")}},
	} {
		t.Run(name, func(t *testing.T) {
			server := &adkServer{stream: adkStream(c.sent...)}
			r := agenttest.MustRecord(t, newADK(t, server), agenttest.Ask(t, "hi"))
			if diff := cmp.Diff(c.want, r.Log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(server.sessions) != 0 {
				t.Errorf("a session is left: %q", server.calls)
			}
		})
	}
}

func TestArtifacts(t *testing.T) {
	const saved = `,"actions":{"stateDelta":{"n":1},"artifactDelta":{"user:a/b.txt":3}}`
	for name, c := range map[string]struct{ artifact, part string }{
		"a file":                {`{"inlineData":{"mimeType":"text/plain","data":"_-8="}}`, `{"inline_data":{"data":"/+8=","display_name":"user:a/b.txt","mime_type":"text/plain"}}`},
		"a reference":           {`{"fileData":{"mimeType":"text/plain","fileUri":"https://x"}}`, `{"file_data":{"display_name":"user:a/b.txt","file_uri":"https://x","mime_type":"text/plain"}}`},
		"a text":                {`{"text":"t"}`, `{"text":"t"}`},
		"one that is too large": {`{"inlineData":{"mimeType":"text/plain","data":"` + strings.Repeat("AAAA", 1<<17) + `"}}`, `{"text":"[artifact user:a/b.txt, version 3]"}`},
		"one that has no bytes": {`null`, `{"text":"[artifact user:a/b.txt, version 3]"}`},
		"one that is not found": {``, `{"text":"[artifact user:a/b.txt, version 3]"}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := &adkServer{artifact: c.artifact, stream: adkStream(
				adkSaid("e1", `{"text":"a"}`), `{"author":"helper","id":"e1","actions":`+strings.TrimPrefix(saved, `,"actions":`)+`}`,
			)}
			r := agenttest.MustRecord(t, newADK(t, server), agenttest.Ask(t, "hi"))
			want := []string{
				`event {"id":"e1","invocation_id":"run-1","author":"helper","content":{"parts":[{"text":"a"}],"role":"model"},"timestamp":1.5}`,
				`event {"id":"","invocation_id":"run-1","author":"helper","actions":{"state_delta":{"n":1}}}`,
				`event {"id":"","invocation_id":"run-1","author":"helper","adk":{"artifact":{"name":"user:a/b.txt","version":3}},"content":{"parts":[` + c.part + `],"role":"model"}}`,
			}
			if diff := cmp.Diff(want, r.Log); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.artifact != "" && !strings.Contains(strings.Join(server.calls, ","), "artifact artifacts/user:a/b.txt/versions/3") {
				t.Errorf("calls %q", server.calls)
			}
		})
	}
}

// A name that is a path would be another address of the agent's server.
func TestArtifacts_named_like_paths_are_not_read(t *testing.T) {
	server := &adkServer{artifact: `{"text":"t"}`, stream: adkStream(
		`{"partial":true,"author":"helper","id":"..","content":{"role":"model","parts":[{"text":"a"}]}}`,
		adkSaid("..", `{"text":"a"}`, `,"actions":{"artifactDelta":{"..":3}}`),
	)}
	r := agenttest.MustRecord(t, newADK(t, server), agenttest.Ask(t, "hi"))
	if calls := strings.Join(server.calls, ","); strings.Contains(calls, "artifact ") {
		t.Errorf("calls %q", calls)
	}
	if log := strings.Join(r.Log, "\n"); !strings.Contains(log, `[artifact .., version 3]`) || strings.Contains(log, `"id":".."`) {
		t.Errorf("got\n%s", log)
	}
}

func TestFailures(t *testing.T) {
	piece := adkSaid("e1", `{"text":"a"}`, `,"partial":true`)
	failing := `{"error": "ValueError: boom at /home", "error_details": {"error_type": "ValueError", "error_message": "boom"}}`
	for name, c := range map[string]struct{ body, code, says string }{
		"an exception":                  {adkStream(piece, failing), "ValueError", "the agent failed: ValueError"},
		"an exception, as an event too": {adkStream(adkSaid("e2", "", `,"errorCode":"ValueError","errorMessage":"boom"`), failing), "ValueError", "ValueError"},
		"an exception without a type":   {adkStream(`{"error":"boom"}`), run.CodeAgent, "the agent failed"},
		"an error of the model's":       {adkStream(piece, adkSaid("e1", "", `,"errorCode":"SAFETY"`)), "SAFETY", "SAFETY"},
		"pieces without the whole":      {adkStream(piece), endpoint.CodeEndedEarly, "ended early"},
		"nothing":                       {adkStream(), endpoint.CodeProtocol, "without having produced anything"},
		"malformed JSON":                {adkStream(`{"author":`), endpoint.CodeProtocol, "malformed (number 1"},
		"no object":                     {adkStream(`[]`), endpoint.CodeProtocol, "must be an object"},
		"a member of a wrong type":      {adkStream(`{"author":"x","content":5}`), endpoint.CodeProtocol, "types that events of ADK have"},
		"no author":                     {adkStream(`{"content":{}}`), endpoint.CodeProtocol, "author is required"},
		"an event that is too large":    {adkStream(adkSaid("e1", `{"text":"`+strings.Repeat("a", 1<<20)+`"}`)), run.CodeLimit, "bytes"},
		"a line that is too large":      {"data: " + strings.Repeat("a", 3<<20), run.CodeLimit, "bytes"},
		"a state without a key":         {adkStream(adkSaid("e1", "", `,"actions":{"stateDelta":{"":1}}`)), endpoint.CodeProtocol, "must name a key"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &adkServer{stream: c.body}
			_, err := agenttest.Record(t, newADK(t, server), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, c.says)
			if len(server.sessions) != 0 {
				t.Errorf("a session is left: %q", server.calls)
			}
			if strings.Contains(agenttest.ProblemOf(t, err).Message, "boom") {
				t.Errorf("users see the exception: %v", err)
			}
		})
	}
}

// How often a request is sent that fails, by the request and its status.
func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		status int
		tries  int
		code   string
	}{
		"too many sessions":       {adkSessions, http.StatusTooManyRequests, 3, endpoint.CodeRefused},
		"a session refused":       {adkSessions, http.StatusUnprocessableEntity, 1, endpoint.CodeRefused},
		"a server without a path": {adkSessions, http.StatusNotFound, 1, endpoint.CodeRefused},
		"too many runs":           {"/run_sse", http.StatusTooManyRequests, 3, endpoint.CodeRefused},
		// The agent may have got the message.
		"a run that a gateway lost": {"/run_sse", http.StatusGatewayTimeout, 1, endpoint.CodeRefused},
		"a run refused":             {"/run_sse", http.StatusInternalServerError, 1, endpoint.CodeRefused},
		"an unknown app":            {"/run_sse", http.StatusNotFound, 1, endpoint.CodeRefused},
		"a run elsewhere":           {"/run_sse", http.StatusTemporaryRedirect, 1, endpoint.CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			server := &adkServer{}
			server.before = func(rw http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != c.path {
					return false
				}
				tries++
				rw.Header().Set("Retry-After", "0")
				rw.Header().Set("Location", "https://elsewhere.invalid/")
				rw.WriteHeader(c.status)
				return true
			}
			_, err := agenttest.Record(t, newADK(t, server), agenttest.Ask(t, "hi"))
			agenttest.WantError(t, err, c.code, "")
			if tries != c.tries || len(server.sessions) != 0 {
				t.Errorf("%d tries, want %d; sessions %v", tries, c.tries, server.sessions)
			}
		})
	}
	t.Run("a run whose connection broke is not sent twice", func(t *testing.T) {
		var tries atomic.Int64
		server := &adkServer{before: func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/run_sse" {
				tries.Add(1)
				panic(http.ErrAbortHandler)
			}
			return false
		}}
		_, err := agenttest.Record(t, newADK(t, server), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeUnreachable, "")
		if tries.Load() != 1 {
			t.Errorf("%d tries", tries.Load())
		}
	})
	t.Run("an answer that is no stream", func(t *testing.T) {
		server := &adkServer{}
		server.before = func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/run_sse" {
				return false
			}
			answerJSON(rw, http.StatusOK, []string{})
			return true
		}
		_, err := agenttest.Record(t, newADK(t, server), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, endpoint.CodeProtocol, "without a stream")
	})
}

// A cancelled run closes its connection, and the session there is deleted although
// the context has ended.
func TestCancel(t *testing.T) {
	closed := make(chan struct{})
	server := &adkServer{}
	server.before = func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/run_sse" {
			return false
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(rw, adkStream(adkSaid("e1", `{"text":"a"}`, `,"partial":true`)))
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		close(closed)
		return true
	}
	ctx, cancel := agenttest.CancelledBy(t)
	r := &agenttest.Recorder{T: t}
	err := newADK(t, server).Run(ctx, agenttest.Ask(t, "hi"), func(o run.Output) error {
		if o.Delta != nil {
			cancel(agenttest.ErrStopped)
		}
		return r.Emit(o)
	})
	if err != agenttest.ErrStopped { //nolint:errorlint // the cause itself is returned
		t.Errorf("got %v", err)
	}
	<-closed
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.sessions) != 0 {
		t.Errorf("a session is left: %q", server.calls)
	}
}

// A server that never answers the deletion does not keep a run from ending.
func TestDeletionIsBounded(t *testing.T) {
	server := &adkServer{stream: adkStream(adkSaid("e1", `{"text":"a"}`))}
	server.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			<-r.Context().Done()
		}
		return r.Method == http.MethodDelete
	}
	agenttest.MustRecord(t, newADK(t, server), agenttest.Ask(t, "hi"))
}
