package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testParameters stores agents that are too large for an environment, and their
// key, in parameters of Systems Manager. The agents' names have a namespace.
func testParameters(t *testing.T, sys *e2e.System) {
	t.Helper()
	keys := make(chan string, 10)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: delta\ndata: {\"part\": 0, \"text\": \"I\"}\n\nevent: done\ndata: {}\n\n")
	}))
	t.Cleanup(agent.Close)
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprintf(`"team/agent-%d": {"type": "http", "url": %q, "api_key_env": "AGENT_API_KEY"}`, i, agent.URL)
	}
	agents := "{" + strings.Join(many, ", ") + "}"
	if len(agents) < 4096 {
		t.Fatalf("%d bytes would fit", len(agents))
	}
	sys = sys.Another(t, "AGENTS="+agents, "AGENT_API_KEY=hidden-key",
		"AGENTS_PARAMETER=/rethread/agents", "AGENT_API_KEY_PARAMETER=/rethread/key")
	alice := sys.User(t, "alice-"+uuid.NewString())
	session := mustCreate(t, alice, e2e.M{"id": "one", "agent": "team/agent-49"})
	run := alice.Post(session+"/runs", e2e.M{"input": []e2e.M{says("Hello")}}).Want(202).Str("data.run.id")
	mustEnd(t, alice, session, run, "completed")
	if key := <-keys; key != "Bearer hidden-key" {
		t.Errorf("the agent got %q", key)
	}
	card := alice.Get("/a2a/team~agent-49/.well-known/agent-card.json").Want(200)
	if !strings.Contains(string(card.Body), "/a2a/team~agent-49") {
		t.Errorf("the card names another address: %s", card.Body)
	}
	answer := alice.Post("/a2a/team~agent-49", e2e.M{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": e2e.M{
		"message": e2e.M{"kind": "message", "messageId": "m", "role": "user", "parts": []e2e.M{{"kind": "text", "text": "Hello"}}},
	}}).Want(200)
	if state := answer.Str("result.status.state"); state != "completed" {
		t.Errorf("over A2A: %s", answer.Body)
	}
	alice.Post(session+"/runs", e2e.M{"agent": "other/agent-49", "input": []e2e.M{says("Hello")}}).Want(422)
}
