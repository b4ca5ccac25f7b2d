package entrances_test

import (
	"net/http"
	"strings"
	"testing"
)

// starts are all ways to call the agent secret, which bob alone may call.
func starts() map[string]request {
	const (
		input = `{"content":{"parts":[{"text":"x"}]}}`
		says  = `"messages":[{"id":"m","role":"user","content":"x"}]`
		parts = `"messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"x"}]}]`
	)
	return map[string]request{
		"a run":                      post("/api/v1/sessions/USER-plain/runs", `{"agent":"secret","input":[`+input+`]}`),
		"a run of a session's agent": post("/api/v1/sessions/USER-secret/runs", `{"input":[`+input+`]}`),
		"a queued run":               post("/api/v1/sessions/USER-busy/runs", `{"agent":"secret","input":[`+input+`],"on_active":"enqueue"}`),
		"a run in place of another":  post("/api/v1/sessions/USER-busy/runs", `{"agent":"secret","input":[`+input+`],"on_active":"cancel_and_merge"}`),
		"an automation":              post("/api/v1/automations", `{"name":"a","on":{"types":["run.completed"]},"do":{"agent":"secret","input":"x"}}`),
		"A2A":                        rpc("/a2a/secret", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","contextId":"USER-plain","parts":[{"text":"x"}]}}`),
		"the extended card of A2A":   rpc("/a2a/secret", "GetExtendedAgentCard", `{}`),
		"AG-UI":                      post("/agui/secret", `{"threadId":"USER-plain","runId":"q",`+says+`}`),
		"AI SDK":                     post("/ai-sdk/secret", `{"id":"USER-plain",`+parts+`}`),
		"Responses":                  post("/v1/responses", `{"model":"secret","conversation":"USER-plain","input":"x","background":true}`),
		"a model of Responses":       get("/v1/models/secret"),
	}
}

func TestAgents_are_called_by_their_callers_alone(t *testing.T) {
	for name, r := range starts() {
		for user, may := range map[string]bool{alice: false, "bob": true} {
			t.Run(name+" by "+user, func(t *testing.T) {
				s := newSystem(t)
				as := func(r request) request {
					r.path, r.body = strings.ReplaceAll(r.path, "USER", user), strings.ReplaceAll(r.body, "USER", user)
					r.header = map[string]string{"User": user}
					return r
				}
				for _, id := range []string{"plain", "busy"} {
					s.must(t, http.StatusCreated, as(post("/api/v1/sessions", `{"id":"USER-`+id+`"}`)))
				}
				s.must(t, http.StatusCreated, as(post("/api/v1/sessions", `{"id":"USER-secret","agent":"secret"}`)))
				s.must(t, http.StatusAccepted, as(post("/api/v1/sessions/USER-busy/runs", `{"mode":"external","input":[{"content":{"parts":[{"text":"x"}]}}]}`)))
				status, body := s.do(t, as(r))
				if refused := status == http.StatusForbidden; refused == may {
					t.Errorf("%d %.300s", status, body)
				}
				if may && status >= http.StatusBadRequest && status != http.StatusServiceUnavailable { // there is no worker
					t.Errorf("%d %.300s", status, body)
				}
			})
		}
	}
	if n := len(starts()); n < 11 {
		t.Errorf("%d cases, want 11", n)
	}
}

func TestAgents_are_listed_for_their_callers_alone(t *testing.T) {
	s := newSystem(t)
	for user, lists := range map[string]bool{alice: false, "bob": true} {
		r := get("/v1/models")
		r.header = map[string]string{"User": user}
		if body := s.must(t, http.StatusOK, r); strings.Contains(body, `"secret"`) != lists || !strings.Contains(body, `"helper"`) {
			t.Errorf("%s gets %s", user, body)
		}
	}
	for agent, status := range map[string]int{"helper": http.StatusOK, "secret": http.StatusNotFound} {
		r := get("/a2a/" + agent + "/.well-known/agent-card.json")
		r.header = map[string]string{"User": ""} // cards are public
		if got, body := s.do(t, r); got != status {
			t.Errorf("the card of %s: %d %s", agent, got, body)
		}
	}
}
