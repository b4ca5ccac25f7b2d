package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

var text = e2e.Header("Content-Type", "text/plain") //nolint:gochecknoglobals // a constant, had Go any of functions

// testGuests checks that a share covers a single session.
func testGuests(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	s := mustCreate(t, alice, e2e.M{"state": e2e.M{"color": "red", "user:secret": "mine"}})
	id := strings.TrimPrefix(s, api+"/sessions/")
	alice.Send(http.MethodPut, s+"/artifacts/user:profile", "mine", text).Want(201)
	alice.Send(http.MethodPut, s+"/artifacts/note.txt", "ours", text).Want(201)
	alice.Post(s+"/shares", e2e.M{"access": "write", "user_id": bob.ID}).Want(201)
	withState := func(key string) e2e.M {
		e := event("i-"+uuid.NewString(), "x")
		e["actions"] = e2e.M{"state_delta": e2e.M{key: "changed"}}
		return e
	}
	t.Run("guests cannot read the owner's user state", func(t *testing.T) {
		got := bob.Get(s + "/state").Want(200)
		if got.Raw("data.user") != "{}" || got.Raw("data.merged") != `{"color":"red"}` || got.Raw("data.session") != `{"color":"red"}` {
			t.Errorf("state: %s", got.Body)
		}
	})
	t.Run("guests cannot change user or app state", func(t *testing.T) {
		before := string(alice.Get(s + "/state").Want(200).Body)
		for _, key := range []string{"user:secret", "app:limit"} {
			for path, body := range map[string]e2e.M{
				"/events": {"events": []e2e.M{withState(key)}},
				"/runs": {"mode": "external", "agent": "demo", "input": []e2e.M{{
					"content": e2e.M{"parts": []e2e.M{{"text": "x"}}}, "actions": e2e.M{"state_delta": e2e.M{key: 1}},
				}}},
			} {
				if got := bob.Post(s+path, body).Want(403); !strings.Contains(got.Str("errors.0.pointer"), key) {
					t.Errorf("POST %s with %s: %s", path, key, got.Body)
				}
			}
		}
		if after := string(alice.Get(s + "/state").Want(200).Body); after != before {
			t.Errorf("state: %s, before %s", after, before)
		}
		bob.Post(s+"/events", e2e.M{"events": []e2e.M{withState("color")}}).Want(201)
	})
	t.Run("guests do not see the owner's user artifacts", func(t *testing.T) {
		bob.Get(s + "/artifacts/user:profile").Want(404)
		bob.Get(s + "/artifacts/user:profile/versions").Want(404)
		if got := bob.Get(s+"/artifacts").Want(200).Each("data", "name"); !slices.Equal(got, []string{"note.txt"}) {
			t.Errorf("artifacts: %v", got)
		}
		bob.Send(http.MethodPut, s+"/artifacts/user:profile", "bob's", text).Want(403)
		for _, target := range []string{"artifact://user/profile/0", "artifact://session/" + uuid.NewString() + "/x/0"} {
			bob.Send(http.MethodPut, s+"/artifacts/look", target, e2e.Header("Content-Type", "text/uri-list")).Want(403)
		}
		bob.Send(http.MethodPut, s+"/artifacts/copy", "artifact://session/"+id+"/note.txt/0",
			e2e.Header("Content-Type", "text/uri-list")).Want(201)
		if got := bob.Get(s + "/artifacts/copy").Want(200); string(got.Body) != "ours" {
			t.Errorf("the copy: %s", got.Body)
		}
	})
	t.Run("a guest's rewind restores the session's values", func(t *testing.T) {
		mustAppend(t, alice, s, e2e.M{
			"invocation_id": "both", "author": "user", "actions": e2e.M{"state_delta": e2e.M{"user:secret": "new", "color": "blue"}},
		})
		wish := e2e.M{"rewind_before_invocation_id": "both", "scopes": []string{"session", "user"}}
		if got := bob.Post(s+"/rewind", wish).Want(403); got.Str("errors.0.pointer") != "/scopes/1" {
			t.Errorf("got %s", got.Body)
		}
		got := bob.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": "both"}).Want(200)
		if got.Str("data.session.access") != "write" || got.Raw("data.restored.state") != `{"color":"changed"}` {
			t.Errorf("rewound: %s", got.Body)
		}
		if now := alice.Get(s + "/state").Want(200); now.Str("data.user.secret") != "new" {
			t.Errorf("state: %s", now.Body)
		}
	})
	t.Run("guests do not see user values that the owner's rewind restored", func(t *testing.T) {
		mustAppend(t, alice, s, e2e.M{
			"invocation_id": "again", "author": "user", "actions": e2e.M{"state_delta": e2e.M{"user:secret": "newer", "color": "green"}},
		})
		alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": "again"}).Want(200)
		const last = "/events?view=all&order=desc&limit=1"
		if got := bob.Get(s + last).Want(200); got.Raw("data.0.actions.state_delta") != `{"color":"changed"}` {
			t.Errorf("the marker: %s", got.Body)
		}
		if got := alice.Get(s + last).Want(200); !strings.Contains(got.Raw("data.0.actions.state_delta"), "user:secret") {
			t.Errorf("the owner's: %s", got.Body)
		}
	})
	t.Run("guests have no access to the owner's other sessions", func(t *testing.T) {
		fork := alice.Post(s+"/fork", e2e.M{"name": "private"}).Want(201).Str("data.id")
		if got := bob.Get(s + "/forks").Want(200); got.Str("data.id") != id || got.Raw("data.children") != "[]" {
			t.Errorf("forks: %s", got.Body)
		}
		bob.Get(sessionPath(fork)).Want(403)
	})
	t.Run("a guest's feedback belongs to the guest", func(t *testing.T) {
		mustSave(t, alice, s, "judged", "x")
		bob.Post(api+"/feedback", e2e.M{"taskId": "judged", "sessionId": id, "feedbackType": "down"}).Want(202)
		if n := len(bob.Get(api + "/feedback?task_id=judged").Want(200).List("feedback")); n != 1 {
			t.Errorf("bob gave %d", n)
		}
		if n := len(alice.Get(api + "/feedback?task_id=judged").Want(200).List("feedback")); n != 0 {
			t.Errorf("alice gave %d", n)
		}
		if got := alice.Get(s + "/tasks/judged").Want(200).Str("task_metadata.feedback.type"); got != "down" {
			t.Errorf("the task: %s", got)
		}
	})
	t.Run("answers to the owner do not mention access", func(t *testing.T) {
		for _, path := range []string{s, s + "/thread", api + "/sessions"} {
			if got := alice.Get(path).Want(200); strings.Contains(string(got.Body), `"access"`) {
				t.Errorf("%s: %s", path, got.Body)
			}
		}
		for path, at := range map[string]string{s: "data.access", s + "/thread": "data.session.access"} {
			if got := bob.Get(path).Want(200).Str(at); got != "write" {
				t.Errorf("%s: access %q", path, got)
			}
		}
	})
	t.Run("a guest's cursor stays valid", func(t *testing.T) {
		first := bob.Get(s + "/events?limit=1").Want(200)
		bob.Get(s + "/events?limit=1&cursor=" + first.Str("meta.next_cursor")).Want(200)
	})
}

// testShares checks granting and revoking access.
func testShares(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	s := mustCreate(t, alice, e2e.M{"name": "plans"})
	id := strings.TrimPrefix(s, api+"/sessions/")
	t.Run("a link can be accepted repeatedly until it is revoked", func(t *testing.T) {
		link := alice.Post(s+"/shares", e2e.M{"access": "read"}).Want(201)
		token := link.Str("data.token")
		bob.Get(s).Want(403)
		for range 2 {
			if got := bob.Post(api+"/shares/accept", e2e.M{"token": token}).Want(200); got.Str("data.session_id") != id ||
				got.Str("data.access") != "read" || got.Raw("data.expires_time") != "null" {
				t.Errorf("accepted: %s", got.Body)
			}
		}
		if got := bob.Get(s).Want(200).Str("data.access"); got != "read" {
			t.Errorf("access %q", got)
		}
		listed := bob.Get(api + "/sessions?shared=true").Want(200)
		if got := listed.Each("data", "id"); !slices.Equal(got, []string{id}) || listed.Str("data.0.access") != "read" {
			t.Errorf("shared with bob: %s", listed.Body)
		}
		if got := alice.Get(s + "/shares").Want(200); strings.Contains(string(got.Body), "token") || got.Str("data.0.kind") != "link" {
			t.Errorf("listed: %s", got.Body)
		}
		for range 2 {
			alice.Delete(s + "/shares/" + link.Str("data.id")).Want(204)
		}
		bob.Get(s).Want(403)
		bob.Post(api+"/shares/accept", e2e.M{"token": token}).Want(404)
		if n := len(bob.Get(api + "/sessions?shared=true").Want(200).List("data")); n != 0 {
			t.Errorf("%d sessions are shared with bob", n)
		}
	})
	t.Run("a repeated request is answered without the token", func(t *testing.T) {
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		first := alice.Post(s+"/shares", e2e.M{"access": "read"}, key).Want(201)
		again := alice.Post(s+"/shares", e2e.M{"access": "read"}, key).Want(201)
		if first.Str("data.id") != again.Str("data.id") || strings.Contains(string(again.Body), "token") ||
			len(first.Str("data.token")) < 22 {
			t.Errorf("first %s, again %s", first.Body, again.Body)
		}
	})
	t.Run("guests can leave", func(t *testing.T) {
		alice.Post(s+"/shares", e2e.M{"access": "write", "user_id": bob.ID}).Want(201)
		token := alice.Post(s+"/shares", e2e.M{"access": "read"}).Want(201).Str("data.token")
		bob.Post(api+"/shares/accept", e2e.M{"token": token}).Want(200)
		bob.Get(s).Want(200)
		for range 2 {
			bob.Delete(s + "/access").Want(204)
		}
		bob.Get(s).Want(403)
		alice.Delete(s + "/access").Want(409)
		bob.Post(api+"/shares/accept", e2e.M{"token": token}).Want(200)
		bob.Delete(s + "/access").Want(204)
	})
	t.Run("invalid shares are refused", func(t *testing.T) {
		before := alice.Get(s + "/shares").Want(200).Raw("data")
		alice.Post(s+"/shares", e2e.M{"access": "read", "user_id": alice.ID}).Want(422)
		alice.Post(s+"/shares", e2e.M{"access": "own", "user_id": bob.ID}, e2e.Bad).Want(422)
		alice.Post(s+"/shares", e2e.M{"user_id": bob.ID}, e2e.Bad).Want(400)
		alice.Post(s+"/shares", e2e.M{"access": "read", "user_id": ""}, e2e.Bad).Want(422)
		alice.Post(s+"/shares", e2e.M{"access": "read", "expires_in": 0}, e2e.Bad).Want(422)
		alice.Post(api+"/shares/accept", e2e.M{"token": ""}, e2e.Bad).Want(422)
		if diff := cmp.Diff(before, alice.Get(s+"/shares").Want(200).Raw("data")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("an admin can only list and read", func(t *testing.T) {
		user := "admin-" + uuid.NewString()
		token, err := host.TokenWith(t.Context(), sys.URL, user, "rethread:admin")
		if err != nil {
			t.Fatal(err)
		}
		admin := sys.Bearer(t, user, token)
		listed := admin.Get(api + "/sessions?user_id=" + alice.ID).Want(200)
		if got := listed.Each("data", "id"); !slices.Equal(got, []string{id}) || listed.Str("data.0.access") != "admin" {
			t.Errorf("listed: %s", listed.Body)
		}
		if got := admin.Get(s).Want(200).Str("data.access"); got != "admin" {
			t.Errorf("access %q", got)
		}
		admin.Patch(s, e2e.M{"name": "mine"}).Want(403)
		bob.Get(api + "/sessions?user_id=" + alice.ID).Want(403)
		bob.Get(api + "/sessions?user_id=" + bob.ID).Want(200)
	})
	t.Run("an erased user has no access", func(t *testing.T) {
		carol := sys.User(t, "carol")
		alice.Post(s+"/shares", e2e.M{"access": "read", "user_id": carol.ID}).Want(201)
		carol.Get(s).Want(200)
		carol.Delete(api+"/me/data").Want(200, 202)
		carol.Get(s).Want(403)
	})
	t.Run("deleting a session deletes its shares", func(t *testing.T) {
		gone := mustCreate(t, alice, e2e.M{"id": uuid.NewString()})
		alice.Post(gone+"/shares", e2e.M{"access": "read", "user_id": bob.ID}).Want(201)
		token := alice.Post(gone+"/shares", e2e.M{"access": "read"}).Want(201).Str("data.token")
		bob.Get(gone).Want(200)
		alice.Delete(gone).Want(204)
		mustCreate(t, alice, e2e.M{"id": strings.TrimPrefix(gone, api+"/sessions/")})
		bob.Get(gone).Want(403)
		bob.Post(api+"/shares/accept", e2e.M{"token": token}).Want(404)
	})
}
