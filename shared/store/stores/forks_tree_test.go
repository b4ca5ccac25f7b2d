package stores_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// lines lists the sessions below a branch as their paths.
func lines(above string, b session.Branch) []string {
	at := above + "/" + b.ID
	if b.Deleted {
		at += "!"
	}
	out := []string{at}
	for _, c := range b.Children {
		out = append(out, lines(at, c)...)
	}
	return out
}

func mustTree(t *testing.T, s *stores.Store, q session.TreeQuery) session.TreePage {
	t.Helper()
	page, err := s.History.Forks(t.Context(), q)
	if err != nil {
		t.Fatalf("tree of %+v: %v", q, err)
	}
	return page
}

// TestForks_pages reads a tree in pages of each size: together they are the tree, each
// session after its source.
func TestForks_pages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "root", nil)
	mustAppend(t, s, alice, "root", event(t, "", "i", "hello"))
	for _, f := range [][2]string{
		{"root", "a"}, {"root", "b"}, {"a", "aa"}, {"aa", "aaa"}, {"aa", "aab"}, {"b", "ba"}, {"root", "c"}, {"a", "ab"}, {"aaa", "deep"},
	} {
		mustFork(t, s, f[0], f[1], nil)
	}
	for _, id := range []string{"root", "aa", "c"} {
		if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
			t.Fatal(err)
		}
	}
	q := session.TreeQuery{UserID: alice, SessionID: "deep"}
	want := lines("", mustTree(t, s, q).Root)
	if len(want) != 9 {
		t.Fatalf("the tree has %d sessions: %v", len(want), want)
	}
	for q.Limit = 1; q.Limit <= len(want)+1; q.Limit++ {
		var got []string
		pages := 0
		for q.After = ""; ; pages++ {
			page := mustTree(t, s, q)
			var fresh []string
			for _, line := range lines("", page.Root) {
				if !slices.Contains(got, line) {
					fresh = append(fresh, line)
				}
			}
			if len(fresh) > q.Limit || len(fresh) == 0 {
				t.Errorf("a page of %d has %v", q.Limit, fresh)
			}
			got = append(got, fresh...)
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", q.Limit, diff)
		}
	}
	mustCreate(t, s, alice, "other", nil)
	q.Limit = 2
	q.After = mustTree(t, s, q).Next
	for _, after := range []string{"x", "a/b/c/d", q.After + "x"} {
		_, err := s.History.Forks(t.Context(), session.TreeQuery{UserID: alice, SessionID: "deep", After: after})
		wantKind(t, err, fault.Malformed)
	}
	_, err := s.History.Forks(t.Context(), session.TreeQuery{UserID: alice, SessionID: "other", After: q.After})
	wantKind(t, err, fault.Malformed)
	alone := mustTree(t, s, session.TreeQuery{UserID: alice, SessionID: "a", Alone: true})
	if alone.Root.ID != "a" || len(alone.Root.Children) != 0 || alone.Next != "" {
		t.Errorf("alone: %+v", alone)
	}
}

// TestForks_of_one_session bounds the requests for a page of a tree, and for deletions in it.
func TestForks_of_one_session(t *testing.T) {
	t.Parallel()
	var first map[string]capacity.Usage
	for _, n := range []int{10, 100, 1000} {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		mustCreate(t, s, alice, "root", nil)
		for i := range n {
			mustFork(t, s, "root", fmt.Sprint("fork-", i), nil)
		}
		used := map[string]capacity.Usage{}
		measure := func(name string, work func()) {
			before := meter.Total()
			work()
			used[name] = meter.Total().Sub(before)
		}
		remove := func(id string) func() {
			return func() {
				if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
					t.Fatal(err)
				}
			}
		}
		var page session.TreePage
		measure("tree", func() {
			page = mustTree(t, s, session.TreeQuery{UserID: alice, SessionID: "fork-3", Limit: 1000})
		})
		if got := len(lines("", page.Root)); got != min(n+1, 1000) || (page.Next == "") != (n < 1000) {
			t.Errorf("%d of %d sessions, next %q", got, n+1, page.Next)
		}
		if most := 6 + 2*(n+99)/100; used["tree"].Requests > most {
			t.Errorf("the tree of %d takes %d requests, more than %d", n, used["tree"].Requests, most)
		}
		measure("delete a fork", remove("fork-1"))
		measure("delete the source", remove("root"))
		measure("delete a fork of a deleted source", remove("fork-2"))
		if first == nil {
			first = used
		}
		delete(used, "tree")
		for name, u := range used {
			if u.Requests > first[name].Requests+6 { // the batches of 25 that a deletion of items takes
				t.Errorf("%s among %d takes %d requests, among 10 %d", name, n, u.Requests, first[name].Requests)
			}
		}
	}
}
