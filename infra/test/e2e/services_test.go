package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// testServices is the story of a backend with one token and users of its own: an agent
// with its own key and its own callers, state of the app, and what users cannot do.
func testServices(t *testing.T, sys *e2e.System) {
	t.Helper()
	keys := make(chan string, 10)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: event\ndata: {\"author\":\"a\",\"content\":{\"parts\":[{\"text\":\"I\"}]},"+
			"\"actions\":{\"state_delta\":{\"app:seen\":1}}}\n\nevent: done\ndata: {}\n\n")
	}))
	t.Cleanup(agent.Close)
	secrets := filepath.Join(t.TempDir(), "secrets.json")
	if err := os.WriteFile(secrets, []byte(`{"/rethread/agents/finance": "the-key"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	agents, err := json.Marshal(map[string]e2e.M{
		"finance": {"type": "http", "url": agent.URL, "api_key_parameter": "/rethread/agents/finance", "callers": e2e.M{"scope": "finance"}},
		"broken":  {"type": "http", "url": agent.URL, "api_key_parameter": "/rethread/agents/none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	sys = sys.Another(t, "AGENTS="+string(agents), "AGENT_SECRETS_FILE="+secrets, "APP_STATE_WRITERS=trusted")
	token, err := host.TokenWith(t.Context(), sys.URL, "backend", "rethread:service finance")
	if err != nil {
		t.Fatal(err)
	}
	alice, bob := sys.User(t, "alice|ä"), sys.User(t, "bob")
	acting := sys.Acting(t, token, alice.ID)
	session := mustCreate(t, acting, e2e.M{"id": "one-" + uuid.NewString(), "app_name": "shop", "state": e2e.M{"app:k": "ours"}})

	if id := alice.Get(session).Want(200).Str("data.user_id"); id != alice.ID {
		t.Errorf("the session is of %s", id)
	}
	bob.Get(session).Want(403)
	sys.Acting(t, token, bob.ID).Get(session).Want(403)
	sys.Bearer(t, "backend", token).Get(session).Want(403)
	first := alice.Get(session + "/events").Want(200)
	if first.Str("data.0.created_by.user_id") != alice.ID || first.Str("data.0.created_by.service") != "backend" {
		t.Errorf("the initial state is by %s", first.Body)
	}

	alice.Post(session+"/runs", e2e.M{"agent": "finance", "input": []e2e.M{says("Hello")}}).Want(403)
	alice.Get("/a2a/finance/.well-known/agent-card.json").Want(404)
	automation := e2e.M{"on": e2e.M{"types": []string{"run.completed"}}, "do": e2e.M{"agent": "finance", "session": "new", "input": "And now?"}}
	alice.Post("/api/v1/automations", automation).Want(403)
	made := acting.Post("/api/v1/automations", automation).Want(201).Str("data.id")
	alice.Patch("/api/v1/automations/"+made, e2e.M{"status": "disabled"}).Want(200)
	alice.Patch("/api/v1/automations/"+made, e2e.M{"status": "active"}).Want(403)
	alice.Delete("/api/v1/automations/" + made).Want(204)
	run := acting.Post(session+"/runs", e2e.M{"agent": "finance", "input": []e2e.M{says("Hello")}}).Want(202).Str("data.run.id")
	mustEnd(t, alice, session, run, "completed")
	if key := <-keys; key != "Bearer the-key" {
		t.Errorf("the agent got %q", key)
	}
	run = alice.Post(session+"/runs", e2e.M{"agent": "broken", "input": []e2e.M{says("Hello")}}).Want(202).Str("data.run.id")
	mustEnd(t, alice, session, run, "failed")
	if code := alice.Get(session + "/runs/" + run).Want(200).Str("data.error.code"); code != "agent_secret" {
		t.Errorf("the run ends with %s", code)
	}

	alice.Post(session+"/events", e2e.M{"events": []e2e.M{{
		"invocation_id": "x", "author": "user", "actions": e2e.M{"state_delta": e2e.M{"app:k": "mine"}},
	}}}).Want(403)
	state := alice.Get(session + "/state").Want(200)
	if state.Str("data.app.k") != "ours" || state.Str("data.app.seen") != "1" {
		t.Errorf("the state is %s", state.Body)
	}

	for _, test := range []struct {
		query  url.Values
		status int
	}{
		{url.Values{"token": {alice.Token}, "user": {bob.ID}}, http.StatusForbidden},
		{url.Values{"token": {token}, "user": {""}}, http.StatusBadRequest},
		{url.Values{"token": {token}, "user": {"a\nb"}}, http.StatusBadRequest},
	} {
		if socket, status := sys.Dial(t, test.query, nil); socket != nil || status != test.status {
			t.Errorf("a websocket for user %q: %d, want %d", test.query["user"], status, test.status)
		}
	}
	acting.Get(session, e2e.Header("Rethread-User", "%zz"), e2e.Bad).Want(400)
	acting.Get(session+"/export", e2e.Header("Rethread-User", "%00"), e2e.Bad).Want(400)
	alice.Get(session+"/export", e2e.Header("Rethread-User", "bob"), e2e.Bad).Want(403)
	acting.Get(session + "/export").Want(200)
}
