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
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// testSent keeps what an agent is sent, through the gateway, and counts it.
func testSent(t *testing.T, sys *e2e.System) {
	t.Helper()
	bodies := make(chan string, 10)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: delta\ndata: {\"part\": 0, \"text\": \"I\"}\n\nevent: done\ndata: {}\n\n")
	}))
	t.Cleanup(agent.Close)
	agents := fmt.Sprintf(`AGENTS={"recorder":{"type":"http","url":"%s/run?key=hidden","api_key_env":"AGENT_API_KEY"}}`, agent.URL)
	run := func(u *e2e.User) (session, id string) {
		t.Helper()
		session = mustCreate(t, u, e2e.M{"agent": "recorder"})
		_, id = mustRun(t, u, session, "What was I told?", nil)
		mustEnd(t, u, session, id, "completed")
		return session, id
	}
	kept := func(u *e2e.User, session, id string) []string {
		t.Helper()
		return u.Get(session+"/runs/"+id+"/requests").Want(200).Each("data", "body")
	}

	t.Run("nothing by default", func(t *testing.T) {
		off := sys.Another(t, agents, "AGENT_API_KEY=hidden-key").User(t, "alice")
		session, id := run(off)
		<-bodies
		if got := kept(off, session, id); len(got) != 0 {
			t.Errorf("%q are kept", got)
		}
		if doc := off.Get(session + "/export").Want(200); strings.Contains(string(doc.Body), `"requests"`) {
			t.Errorf("exported %s", doc.Body)
		}
	})

	on := sys.Another(t, agents, "AGENT_API_KEY=hidden-key", "KEEP_AGENT_REQUESTS=1", "MAX_BYTES=1000000")
	alice := on.User(t, "alice")
	session, id := run(alice)
	sent := <-bodies
	t.Run("exactly what was sent", func(t *testing.T) {
		answer := alice.Get(session + "/runs/" + id + "/requests").Want(200)
		if n := len(answer.List("data")); n != 1 || answer.Str("data.0.body") != sent || answer.Int("data.0.size") != int64(len(sent)) {
			t.Errorf("sent %s, kept %s", sent, answer.Body)
		}
		if answer.Str("data.0.path") != "/run" || strings.Contains(string(answer.Body), "hidden") {
			t.Errorf("kept %s", answer.Body)
		}
		if used := alice.Get(api + "/me/usage").Want(200).Int("data.bytes.used"); used == 0 {
			t.Error("it counts nothing")
		}
	})
	t.Run("for the owner and admins", func(t *testing.T) {
		guest := on.User(t, "guest")
		share(t, alice, session, e2e.M{"user_id": guest.ID, "access": "write"})
		guest.Get(session + "/runs/" + id).Want(200)
		guest.Get(session + "/runs/" + id + "/requests").Want(403)
		user := "admin-" + uuid.NewString()
		token, err := host.TokenWith(t.Context(), on.URL, user, "rethread:admin")
		if err != nil {
			t.Fatal(err)
		}
		if got := kept(on.Bearer(t, user, token), session, id); len(got) != 1 || got[0] != sent {
			t.Errorf("an admin got %q", got)
		}
	})
	doc := alice.Get(session + "/export").Want(200)
	t.Run("in the export, and where it is imported", func(t *testing.T) {
		if got := doc.Each("requests", "body"); len(got) != 1 || got[0] != sent {
			t.Errorf("exported %q", got)
		}
		bob := on.User(t, "bob")
		there := sessionPath(bob.Post(api+"/sessions/import?id="+uuid.NewString(), string(doc.Body)).Want(201).Str("data.id"))
		if got := kept(bob, there, id); len(got) != 1 || got[0] != sent {
			t.Errorf("imported %q", got)
		}
	})
	t.Run("until the session is deleted", func(t *testing.T) {
		other, run := run(alice)
		<-bodies
		alice.Delete(other).Want(204)
		alice.Get(other + "/runs/" + run + "/requests").Want(404)
	})
	t.Run("until the user's data is erased", func(t *testing.T) {
		alice.Delete(api + "/me/data").Want(200)
		alice.Get(session + "/runs/" + id + "/requests").Want(404)
		if used := alice.Get(api + "/me/usage").Want(200).Int("data.bytes.used"); used != 0 {
			t.Errorf("%d bytes count", used)
		}
	})
}
