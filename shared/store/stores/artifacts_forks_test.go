package stores_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/stores"
)

// TestArtifacts_fork_of_many_names bounds the reads of a fork that inherits artifacts: it
// reads the state that names them, and none of them.
func TestArtifacts_fork_of_many_names(t *testing.T) {
	t.Parallel()
	const most = 20
	for _, n := range []int{10, 100, 1000} {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		mustCreate(t, s, alice, "s", nil)
		delta := map[string]int64{}
		for i := range n {
			name := fmt.Sprint("artifact-", i)
			delta[name] = mustPut(t, s, alice, "s", name, "content").Version
		}
		mustAppend(t, s, alice, "s", named(t, "i", delta))
		for _, f := range []struct{ of, id string }{{"s", "fork"}, {"fork", "second"}} {
			before := meter.Total()
			mustFork(t, s, f.of, f.id, nil)
			if used := meter.Total().Sub(before); used.Reads > most {
				t.Errorf("a fork of %s with %d artifacts takes %v", f.of, n, used)
			}
			page, err := s.Artifacts.Artifacts(t.Context(), artifact.Query{UserID: alice, SessionID: f.id, Limit: n + 1})
			if err != nil || len(page.Versions) != n {
				t.Errorf("%s has %d of %d artifacts, %v", f.id, len(page.Versions), n, err)
			}
		}
	}
}

// TestArtifacts_named_before_they_are_stored forks a session whose events name versions that
// are stored only then: the fork does not have them, whoever stores first.
func TestArtifacts_named_before_they_are_stored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustPut(t, s, alice, "s", "b", "early")
	mustAppend(t, s, alice, "s", named(t, "i", map[string]int64{"a": 1, "b": 2, "c": 0}))
	mustFork(t, s, "s", "fork", nil)
	mustFork(t, s, "fork", "deep", nil)
	for _, content := range []string{"late", "later"} {
		for _, name := range []string{"a", "b", "c"} {
			mustPut(t, s, alice, "s", name, content)
		}
	}
	for _, id := range []string{"fork", "deep"} {
		mustRead(t, s, newest(id, "a"), "")
		mustRead(t, s, newest(id, "b"), "early")
		mustRead(t, s, numbered(id, "b", 2), "")
		if diff := cmp.Diff([]string{"b@0"}, mustList(t, s, alice, id, 9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	for i, name := range []string{"a", "b", "c"} {
		if v := mustPut(t, s, alice, "fork", name, "mine").Version; v != []int64{0, 1, 0}[i] {
			t.Errorf("the fork's first version of %s has the number %d", name, v)
		}
		mustRead(t, s, newest("fork", name), "mine")
	}
	if diff := cmp.Diff([]int64{0, 1}, mustVersions(t, s, "fork", "b", 9)); diff != "" {
		t.Errorf("versions of b (-want +got):\n%s", diff)
	}
	mustAppend(t, s, alice, "fork", named(t, "j", map[string]int64{"a": 0, "b": 1}))
	mustFork(t, s, "fork", "grandchild", nil)
	mustRead(t, s, newest("grandchild", "a"), "mine")
	mustRead(t, s, newest("grandchild", "b"), "mine")
	mustRead(t, s, numbered("grandchild", "b", 0), "early")
	mustRead(t, s, newest("grandchild", "c"), "mine")
}
