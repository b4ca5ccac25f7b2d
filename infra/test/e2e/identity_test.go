package e2e_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

func testIdentity(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("every request needs a valid token", func(t *testing.T) {
		alice := sys.User(t, "alice")
		expired, err := host.TokenFor(t.Context(), sys.URL, alice.ID, -time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		header, rest, _ := strings.Cut(alice.Token, ".")
		claims, signature, _ := strings.Cut(rest, ".")
		encode := base64.RawURLEncoding.EncodeToString
		for name, token := range map[string]string{
			"no token":          "",
			"no JWT":            "nonsense",
			"expired":           expired,
			"another subject":   header + "." + encode([]byte(`{"sub":"bob"}`)) + "." + signature,
			"unsigned":          encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + claims + ".",
			"a broken sequence": alice.Token[:len(alice.Token)-8] + "AAAAAAAA",
		} {
			t.Run(name, func(t *testing.T) {
				got := sys.Bearer(t, "nobody", token).Get(api+"/sessions", e2e.Bad).Want(401)
				if got.Str("message") != "Unauthorized" {
					t.Errorf("got %s", got.Body)
				}
			})
		}
	})
	t.Run("returns 403 for other users' resources and 404 for unknown ones", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		s := mustCreate(t, alice, e2e.M{"name": "private"})
		mustSave(t, alice, s, "t1", "x")
		before := string(alice.Get(s).Body)
		for session, status := range map[string]int{s: 403, sessionPath(uuid.NewString()): 404} {
			bob.Get(session).Want(status)
			bob.Patch(session, e2e.M{"name": "mine"}).Want(status)
			bob.Delete(session).Want(status)
			bob.Get(session + "/state").Want(status)
			bob.Get(session + "/events").Want(status)
			bob.Post(session+"/events", e2e.M{"events": []e2e.M{event("i1", "x")}}).Want(status)
			bob.Get(session + "/tasks").Want(status)
			bob.Get(session + "/tasks/t1").Want(status)
			bob.Delete(session + "/tasks/t1").Want(status)
			bob.Post(session+"/tasks", e2e.M{"task_id": "t1", "message_bubbles": []e2e.M{bubble("b", "user", "x")}}).Want(status)
			bob.Get(session + "/messages").Want(status)
		}
		if after := string(alice.Get(s).Want(200).Body); after != before {
			t.Errorf("the session changed from %s to %s", before, after)
		}
		if got := alice.Get(s + "/tasks/t1").Want(200).Str("user_message"); got != "x" {
			t.Errorf("the task says %q", got)
		}
	})
	t.Run("neither the query nor the body can name another user", func(t *testing.T) {
		alice := sys.User(t, "alice")
		alice.Post(api+"/sessions", e2e.M{"user_id": "bob"}, e2e.Bad).Want(422)
		got := alice.Post(api+"/sessions?user_id=bob", e2e.M{}).Want(201)
		if got.Str("data.user_id") != alice.ID {
			t.Errorf("the session belongs to %s", got.Str("data.user_id"))
		}
	})
	t.Run("a path without a route gets the gateway's 404", func(t *testing.T) {
		alice := sys.User(t, "alice")
		for _, path := range []string{"/api/v1/nothing", "/nothing", "/api/sessions/x/tasks", "/api/v2/sessions"} {
			alice.Get(path, e2e.Off).Want(404)
		}
	})
}
