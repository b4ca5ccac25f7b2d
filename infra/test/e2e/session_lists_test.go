package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testSessionLists(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("the newest activity comes first", func(t *testing.T) {
		alice := sys.User(t, "alice")
		for _, name := range []string{"one", "two", "three"} {
			mustCreate(t, alice, e2e.M{"name": name})
		}
		names := alice.Get(api+"/sessions").Want(200).Each("data", "name")
		if diff := cmp.Diff([]string{"three", "two", "one"}, names); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("filters select by agent, status and name", func(t *testing.T) {
		alice := sys.User(t, "alice")
		for i, agent := range []string{"cook", "pilot", "cook"} {
			mustCreate(t, alice, e2e.M{"agent": agent, "name": fmt.Sprintf("Trip %d to Köln", i)})
		}
		for query, want := range map[string]int{
			"?agent=cook": 2, "?agent=nobody": 0, "?status=idle": 3, "?status=failed": 0,
			"?q=trip": 3, "?q=TRIP+1": 1, "?q=k%C3%B6ln&agent=pilot": 1, "?q=rome": 0,
		} {
			found := 0
			for _, page := range allPages(t, alice, api+"/sessions"+query) {
				found += len(page.List("data"))
			}
			if found != want {
				t.Errorf("%s finds %d sessions, want %d", query, found, want)
			}
		}
	})
	t.Run("pages list every session once", func(t *testing.T) {
		alice := sys.User(t, "alice")
		var want []string
		for i := range 7 {
			name := fmt.Sprint("s", i)
			mustCreate(t, alice, e2e.M{"name": name})
			want = append(want, name)
		}
		slices.Reverse(want)
		var got []string
		pages := allPages(t, alice, api+"/sessions?limit=3")
		for i, page := range pages {
			names := page.Each("data", "name")
			if len(names) > 3 {
				t.Errorf("a page holds %d", len(names))
			}
			if last := i == len(pages)-1; last != (page.Raw("meta.next_cursor") == "null") {
				t.Errorf("page %d of %d: next_cursor is %s", i+1, len(pages), page.Raw("meta.next_cursor"))
			}
			got = append(got, names...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("positions and times are exact if asked for", func(t *testing.T) {
		alice := sys.User(t, "alice")
		path := mustCreate(t, alice, nil)
		alice.Post(path+"/events", e2e.M{"events": []e2e.M{event("i", "hello")}}).Want(201)
		of := alice.Get(path).Want(200)
		exact, row := alice.Get(api+"/sessions?exact=true").Want(200), alice.Get(api+"/sessions").Want(200)
		for _, name := range []string{"head_seq", "updated_time"} {
			if got := exact.Raw("data.0." + name); got != of.Raw("data."+name) {
				t.Errorf("%s is %s in an exact list, %s of the session", name, got, of.Raw("data."+name))
			}
		}
		if got := row.Raw("data.0.head_seq"); got != "null" {
			t.Errorf("head_seq is %s", got)
		}
	})
	t.Run("users see only their own sessions", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		mustCreate(t, alice, nil)
		if n := len(bob.Get(api + "/sessions").Want(200).List("data")); n != 0 {
			t.Errorf("bob sees %d sessions", n)
		}
	})
}
