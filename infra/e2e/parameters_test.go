package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/e2e"
)

// testParameters has agents that are too many for an environment, and their key,
// in parameters of Systems Manager.
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
		many[i] = fmt.Sprintf(`"agent-%d": {"type": "http", "url": %q, "api_key_env": "AGENT_API_KEY"}`, i, agent.URL)
	}
	agents := "{" + strings.Join(many, ", ") + "}"
	if len(agents) < 4096 {
		t.Fatalf("%d bytes would fit", len(agents))
	}
	sys = sys.Another(t, "AGENTS="+agents, "AGENT_API_KEY=hidden-key",
		"AGENTS_PARAMETER=/rethread/agents", "AGENT_API_KEY_PARAMETER=/rethread/key")
	alice := sys.User(t, "alice-"+uuid.NewString())
	session := mustCreate(t, alice, e2e.M{"id": "one", "agent": "agent-49"})
	run := alice.Post(session+"/runs", e2e.M{"input": []e2e.M{says("Hello")}}).Want(202).Str("data.run.id")
	mustEnd(t, alice, session, run, "completed")
	if key := <-keys; key != "Bearer hidden-key" {
		t.Errorf("the agent got %q", key)
	}
}
