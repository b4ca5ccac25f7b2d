package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testState(t *testing.T, sys *e2e.System) {
	t.Helper()
	change := func(t *testing.T, u *e2e.User, session string, delta e2e.M) {
		t.Helper()
		e := event("i1", "x")
		e["actions"] = e2e.M{"state_delta": delta}
		mustAppend(t, u, session, e)
	}
	t.Run("deltas add up, null deletes, temp is not stored", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"app_name": uuid.NewString(), "state": e2e.M{"a": 1, "b": 2}})
		change(t, alice, s, e2e.M{"b": nil, "c": e2e.M{"deep": []int{1}}, "user:u": "x", "app:p": true, "temp:t": 1})
		change(t, alice, s, e2e.M{"a": 1.5, "nothing": nil})
		got := alice.Get(s + "/state").Want(200)
		want := map[string]string{
			"session": `{"a":1.5,"c":{"deep":[1]}}`, "user": `{"u":"x"}`, "app": `{"p":true}`,
			"merged": `{"a":1.5,"app:p":true,"c":{"deep":[1]},"user:u":"x"}`,
		}
		if diff := cmp.Diff(want, texts(got, "data", want)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("an empty session has empty scopes", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"app_name": uuid.NewString()})
		got := alice.Get(s + "/state").Want(200)
		if got.Raw("data.session") != "{}" || got.Raw("data.merged") != "{}" {
			t.Errorf("got %s", got.Body)
		}
	})
	t.Run("users share an app's keys, sessions a user's", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		app := e2e.M{"app_name": uuid.NewString()}
		one, two, bobs := mustCreate(t, alice, app), mustCreate(t, alice, app), mustCreate(t, bob, app)
		change(t, alice, one, e2e.M{"mine": 1, "user:ours": 2, "app:everyones": 3})
		for who, tc := range map[string]struct {
			user    *e2e.User
			session string
			merged  string
		}{
			"the session":            {alice, one, `{"app:everyones":3,"mine":1,"user:ours":2}`},
			"the same user's second": {alice, two, `{"app:everyones":3,"user:ours":2}`},
			"another user's":         {bob, bobs, `{"app:everyones":3}`},
		} {
			if got := tc.user.Get(tc.session + "/state").Want(200).Raw("data.merged"); got != tc.merged {
				t.Errorf("%s sees %s, want %s", who, got, tc.merged)
			}
		}
	})
	t.Run("apps have their own keys", func(t *testing.T) {
		alice := sys.User(t, "alice")
		change(t, alice, mustCreate(t, alice, e2e.M{"app_name": uuid.NewString()}), e2e.M{"user:x": 1, "app:x": 1})
		other := mustCreate(t, alice, e2e.M{"app_name": uuid.NewString()})
		if got := alice.Get(other + "/state").Want(200).Raw("data.merged"); got != "{}" {
			t.Errorf("another app sees %s", got)
		}
	})
	t.Run("state given at creation reaches the shared scopes", func(t *testing.T) {
		alice := sys.User(t, "alice")
		app := uuid.NewString()
		mustCreate(t, alice, e2e.M{"app_name": app, "state": e2e.M{"user:x": 1}})
		s := mustCreate(t, alice, e2e.M{"app_name": app})
		if got := alice.Get(s + "/state").Want(200).Raw("data.user"); got != `{"x":1}` {
			t.Errorf("user state is %s", got)
		}
	})
}
