package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// mustChange appends an event that changes state.
func mustChange(t *testing.T, u *e2e.User, session, invocation string, delta e2e.M) {
	t.Helper()
	e := event(invocation, "x")
	e["actions"] = e2e.M{"state_delta": delta}
	mustAppend(t, u, session, e)
}

// checkState compares the merged state of a session.
func checkState(t *testing.T, u *e2e.User, session, want string) {
	t.Helper()
	if diff := cmp.Diff(want, u.Get(session+"/state").Want(200).Raw("data.merged")); diff != "" {
		t.Errorf("state (-want +got)\n%s", diff)
	}
}

func testRewindOfState(t *testing.T, sys *e2e.System) {
	t.Helper()
	create := func(t *testing.T, u *e2e.User, state e2e.M) string {
		t.Helper()
		return mustCreate(t, u, e2e.M{"app_name": uuid.NewString(), "state": state})
	}
	t.Run("restores three scopes, and keeps the initial state", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := create(t, alice, e2e.M{"initial": true, "user:u": 1, "app:a": 1})
		mustChange(t, alice, s, "inv-1", e2e.M{"k": 1, "user:v": 1})
		mustChange(t, alice, s, "inv-2", e2e.M{"k": 2, "initial": nil, "user:u": 2, "user:w": 2, "app:a": nil, "app:b": 2})
		mustChange(t, alice, s, "inv-3", e2e.M{"k": nil, "user:v": nil, "app:b": 3, "temp:t": 1})
		got := mustRewind(t, alice, s, "inv-2", nil)
		checkState(t, alice, s, `{"app:a":1,"initial":true,"k":1,"user:u":1,"user:v":1}`)
		want := `{"app:a":1,"app:b":null,"initial":true,"k":1,"user:u":1,"user:v":1,"user:w":null}`
		if restored := got.Raw("data.restored.state"); restored != want {
			t.Errorf("restored %s", restored)
		}
		if delta := got.Raw("data.event.actions.state_delta"); delta != want {
			t.Errorf("the marker has %s", delta)
		}
		mustRewind(t, alice, s, "inv-1", nil)
		checkState(t, alice, s, `{"app:a":1,"initial":true,"user:u":1}`)
	})
	t.Run("distinguishes null, false, 0, an empty string and nested values from absence", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := create(t, alice, e2e.M{})
		values := e2e.M{"false": false, "zero": 0, "empty": "", "list": []int{}, "nested": e2e.M{"null": nil, "deep": []any{nil, 1.50}}}
		mustChange(t, alice, s, "inv-1", values)
		before := alice.Get(s + "/state").Want(200).Raw("data.merged")
		gone := e2e.M{"absent": "x", "user:absent": 0}
		for key := range values {
			gone[key] = nil
		}
		mustChange(t, alice, s, "inv-2", gone)
		checkState(t, alice, s, `{"absent":"x","user:absent":0}`)
		mustRewind(t, alice, s, "inv-2", nil)
		checkState(t, alice, s, before)
	})
	t.Run("restores only the named scopes", func(t *testing.T) {
		alice := sys.User(t, "alice")
		for scope, want := range map[string]string{
			"session": `{"app:a":2,"user:u":2}`, "user": `{"app:a":2,"k":2}`, "app": `{"k":2,"user:u":2}`,
		} {
			s := create(t, alice, e2e.M{})
			mustChange(t, alice, s, "inv-1", e2e.M{"k": 2, "user:u": 2, "app:a": 2})
			mustRewind(t, alice, s, "inv-1", e2e.M{"scopes": []string{scope}})
			checkState(t, alice, s, want)
		}
	})
}

func testSharedState(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("keeps and reports later changes of other sessions", func(t *testing.T) {
		alice := sys.User(t, "alice")
		app := e2e.M{"app_name": uuid.NewString()}
		s, other := mustCreate(t, alice, app), mustCreate(t, alice, app)
		mustChange(t, alice, s, "inv-1", e2e.M{"k": 1, "user:u": 1, "user:mine": 1, "app:a": 1})
		mustChange(t, alice, s, "inv-2", e2e.M{"k": 2, "user:u": 2, "user:mine": 2, "app:a": 2})
		mustChange(t, alice, other, "inv-1", e2e.M{"user:u": "theirs", "app:a": "theirs"})

		got := mustRewind(t, alice, s, "inv-2", nil)
		if keys := got.Raw("data.conflicts"); keys != `[{"key":"app:a","reason":"changed_since"},{"key":"user:u","reason":"changed_since"}]` {
			t.Errorf("conflicts %s", keys)
		}
		if restored := got.Raw("data.restored.state"); restored != `{"k":1,"user:mine":1}` {
			t.Errorf("restored %s", restored)
		}
		checkState(t, alice, s, `{"app:a":"theirs","k":1,"user:mine":1,"user:u":"theirs"}`)
		checkState(t, alice, other, `{"app:a":"theirs","user:mine":1,"user:u":"theirs"}`)

		got = mustRewind(t, alice, s, "inv-2", e2e.M{"on_conflict": "restore"})
		if keys := got.Raw("data.conflicts"); keys != `[]` {
			t.Errorf("conflicts %s", keys)
		}
		checkState(t, alice, s, `{"app:a":1,"k":1,"user:mine":1,"user:u":1}`)
		checkState(t, alice, other, `{"app:a":1,"user:mine":1,"user:u":1}`)
	})
	t.Run("app keys of another user conflict, too", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		app := e2e.M{"app_name": uuid.NewString()}
		s, bobs := mustCreate(t, alice, app), mustCreate(t, bob, app)
		mustChange(t, alice, s, "inv-1", e2e.M{"app:a": 1})
		mustChange(t, bob, bobs, "inv-1", e2e.M{"app:a": "bob's"})
		if keys := mustRewind(t, alice, s, "inv-1", nil).Raw("data.conflicts"); keys != `[{"key":"app:a","reason":"changed_since"}]` {
			t.Errorf("conflicts %s", keys)
		}
		checkState(t, bob, bobs, `{"app:a":"bob's"}`)
	})
}
