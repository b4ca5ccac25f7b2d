package adk_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/shared/client/agent/adk"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
)

// adkServer is what the kind adk uses of ADK's API server: sessions, which refuse
// what the real one refuses, and runs, whose streams the test gives.
type adkServer struct {
	mu       sync.Mutex
	sessions map[string]map[string]any
	calls    []string // "METHOD id", in order
	runs     []map[string]any
	created  []map[string]any
	artifact string
	stream   string
	// before handles a request first; false lets the server handle it.
	before func(rw http.ResponseWriter, r *http.Request) bool
}

const adkSessions = "/apps/trips/users/alice/sessions"

func (s *adkServer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if s.before != nil && s.before(rw, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	if raw, _ := io.ReadAll(r.Body); len(raw) > 0 {
		_ = json.Unmarshal(raw, &body)
	}
	id, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, adkSessions), "/"), "/")
	switch {
	case r.URL.Path == "/run_sse":
		s.run(rw, body)
	case !strings.HasPrefix(r.URL.Path, adkSessions):
		http.Error(rw, `{"detail":"Not Found"}`, http.StatusNotFound)
	case rest != "" && s.artifact == "":
		http.NotFound(rw, r)
	case rest != "":
		s.calls = append(s.calls, "artifact "+rest)
		agenttest.Says("application/json", s.artifact)(rw, r)
	case r.Method == http.MethodPost:
		s.create(rw, body)
	case r.Method == http.MethodDelete:
		s.calls = append(s.calls, "delete "+shortID(id))
		delete(s.sessions, id)
		agenttest.Says("application/json", "null")(rw, r)
	default:
		s.calls = append(s.calls, "get "+shortID(id))
		found, ok := s.sessions[id]
		answerJSON(rw, map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[ok], found)
	}
}

// shortID returns the beginning of the part of a session's id that is the run's.
func shortID(id string) string {
	_, last, _ := strings.Cut(strings.TrimPrefix(id, "rethread-"), "-")
	return fmt.Sprintf("%.4s", last)
}

func answerJSON(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func (s *adkServer) create(rw http.ResponseWriter, body map[string]any) {
	id, _ := body["sessionId"].(string)
	s.calls = append(s.calls, "create "+shortID(id))
	if _, ok := s.sessions[id]; ok {
		answerJSON(rw, http.StatusConflict, map[string]string{"detail": "Session already exists"})
		return
	}
	events, _ := body["events"].([]any)
	for _, e := range events {
		raw, _ := json.Marshal(e)
		for _, refused := range []string{`"actions"`, `longRunningToolIds`, `"name":"adk_request_`} {
			if strings.Contains(string(raw), refused) {
				answerJSON(rw, http.StatusBadRequest, map[string]string{"detail": "cannot include " + refused})
				return
			}
		}
	}
	if s.sessions == nil {
		s.sessions = map[string]map[string]any{}
	}
	s.sessions[id] = body
	s.created = append(s.created, body)
	answerJSON(rw, http.StatusOK, body)
}

// run appends the message to the session, as the real server does, and streams.
func (s *adkServer) run(rw http.ResponseWriter, body map[string]any) {
	id, _ := body["sessionId"].(string)
	s.calls = append(s.calls, "run "+shortID(id))
	s.runs = append(s.runs, body)
	session, ok := s.sessions[id]
	if !ok {
		answerJSON(rw, http.StatusNotFound, map[string]string{"detail": "Session not found"})
		return
	}
	events, _ := session["events"].([]any)
	events = append(events, map[string]any{"author": "user", "content": body["newMessage"]})
	for line := range strings.Lines(s.stream) {
		var e map[string]any
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil && e["partial"] == nil {
			events = append(events, e)
		}
	}
	session["events"] = events
	rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(rw, s.stream)
}

// adkStream is a stream of events, as google-adk writes them.
func adkStream(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		_, _ = fmt.Fprintf(&out, "data: %s\n\n", e)
	}
	return out.String()
}

// adkSaid is an event of ADK's of the agent helper.
func adkSaid(id, parts string, more ...string) string {
	const actions = `{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{},"requestedToolConfirmations":{}}`
	rest := strings.Join(more, "")
	if !strings.Contains(rest, `"actions"`) {
		rest += `,"actions":` + actions
	}
	return `{"content":{"parts":[` + parts + `],"role":"model"},"invocationId":"e-1","author":"helper","nodeInfo":{"path":""},"id":"` + id + `","timestamp":1.5` + rest + `}`
}

func newADK(t *testing.T, h http.Handler) *adk.Agent {
	t.Helper()
	a := adk.New(agentconfig.Endpoint{URL: agenttest.Serve(t, h) + "/", Timeouts: agenttest.Patient()}, "trips")
	t.Cleanup(a.Close)
	return a
}
