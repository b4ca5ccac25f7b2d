package openresponses_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses"
)

// agents are helper, which obeys what models obey, and team/writer, which obeys nothing.
type agents struct{}

func (agents) HasAgent(name string) bool { return name == "helper" || name == "team/writer" }

// MayCall lets everybody call.
func (agents) MayCall(context.Context, string) bool { return true }
func (agents) AgentNames() []string                 { return []string{"helper", "team/writer"} }

func (agents) Obeys(agent string) map[string]bool {
	if agent != "helper" {
		return nil
	}
	return map[string]bool{
		"tools": true, "instructions": true, "tool_choice": true, "temperature": true, "text.format": true, "reasoning.effort": true,
	}
}

func (agents) ClientTools(agent string) []string {
	if agent == "helper" {
		return []string{"configured"}
	}
	return nil
}

type rig struct {
	*frontendtest.Rig

	// beforeStart runs before a run is started in the store, once.
	mu          *sync.Mutex
	beforeStart *func()
}

// pausing runs a function before the next start.
type pausing struct {
	frontend.Runs

	r rig
}

func (p pausing) Start(ctx context.Context, s run.Start) (run.Run, error) {
	p.r.mu.Lock()
	do := *p.r.beforeStart
	*p.r.beforeStart = nil
	p.r.mu.Unlock()
	if do != nil {
		do()
	}
	return p.Runs.Start(ctx, s)
}

func newRig(t *testing.T) rig {
	t.Helper()
	r := rig{mu: &sync.Mutex{}, beforeStart: new(func())}
	r.Rig = frontendtest.New(t, func(c frontend.Config) http.Handler {
		c.Runs = pausing{c.Runs, r}
		return openresponses.New(c, agents{})
	}, "response.output_text.delta")
	return r
}

func (r rig) onStart(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.beforeStart = do
}

type object = map[string]any

// answer returns an answer's value, which must have the status 200.
func answer(t *testing.T, s *frontendtest.Stream) object {
	t.Helper()
	var out object
	if err := json.Unmarshal([]byte(s.Body), &out); err != nil || s.Status != http.StatusOK {
		t.Fatalf("got %d %s", s.Status, s.Body)
	}
	return out
}

// post creates a response with these members besides the model.
func (r rig) post(t *testing.T, members string, headers ...string) *frontendtest.Stream {
	t.Helper()
	return r.Call(t, "alice", http.MethodPost, "/v1/responses", `{"model":"helper",`+members+`}`, headers...)
}

func (r rig) get(t *testing.T, path string) *frontendtest.Stream {
	t.Helper()
	return r.Call(t, "alice", http.MethodGet, "/v1/"+path, "")
}

// begin creates a response in the background, as it is then.
func (r rig) begin(t *testing.T, members string, headers ...string) object {
	t.Helper()
	return answer(t, r.post(t, members+`,"background":true`, headers...))
}

// said creates a response in the background and answers.
func (r rig) said(t *testing.T, members, text string) object {
	t.Helper()
	begun := r.begin(t, members)
	w := r.Work(t)
	w.Write(t, text)
	w.Complete(t, `{"text":"`+text+`"}`, nil)
	return r.response(t, begun["id"])
}

func (r rig) response(t *testing.T, id any) object {
	t.Helper()
	return answer(t, r.get(t, "responses/"+id.(string)))
}

func conversationOf(response object) string {
	return response["conversation"].(object)["id"].(string)
}

// text returns the text of a response's messages.
func text(response object) string {
	out := ""
	for _, item := range response["output"].([]any) {
		content, _ := item.(object)["content"].([]any)
		for _, part := range content {
			out += part.(object)["text"].(string)
		}
	}
	return out
}

// events returns the effective events of a session of alice's.
func (r rig) events(t *testing.T, id string) []session.Event {
	t.Helper()
	page, err := r.Store.Sessions.Events(t.Context(), "alice", id, session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Events
}

func mustRefuse(t *testing.T, s *frontendtest.Stream, status int, param any, code any) {
	t.Helper()
	var body struct{ Error object }
	if err := json.Unmarshal([]byte(s.Body), &body); err != nil || s.Status != status ||
		body.Error["param"] != param || body.Error["code"] != code || body.Error["type"] == "" || body.Error["message"] == "" {
		t.Errorf("got %d %s, want %d with param %v and code %v", s.Status, s.Body, status, param, code)
	}
}

func join(texts ...string) string { return strings.Join(texts, " ") }
