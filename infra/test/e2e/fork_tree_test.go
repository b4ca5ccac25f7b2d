package e2e_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testForkTree(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("the tree is the same from every branch and keeps deleted sessions", func(t *testing.T) {
		alice := sys.User(t, "alice")
		root := mustCreate(t, alice, e2e.M{"name": "root"})
		alone := alice.Get(root + "/forks").Want(200)
		if alone.Str("data.name") != "root" || alone.Raw("data.children") != "[]" {
			t.Errorf("got %s", alone.Body)
		}
		mustTalk(t, alice, root, 2)
		child := mustFork(t, alice, root, e2e.M{"name": "child", "rewind_before_invocation_id": "inv-2"})
		grandchild := mustFork(t, alice, child, e2e.M{"name": "grandchild"})
		mustFork(t, alice, root, e2e.M{"name": "second"})
		tree := alice.Get(root + "/forks").Want(200)
		for _, s := range []string{child, grandchild} {
			if diff := cmp.Diff(tree.Raw("data"), alice.Get(s+"/forks").Want(200).Raw("data")); diff != "" {
				t.Errorf("from %s\n%s", s, diff)
			}
		}
		names := tree.Each("data.children", "name")
		slices.Sort(names)
		if diff := cmp.Diff([]string{"child", "second"}, names); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		at := branchOf(t, tree, "child")
		want := map[string]string{
			"id": child[len(sessionPath("")):], "deleted": "false", "rewind_before_invocation_id": "inv-2",
			"boundary_found": "true", "forked_at_seq": "2", "children.0.name": "grandchild", "children.0.forked_at_seq": "2",
			"children.0.rewind_before_invocation_id": "null",
		}
		if diff := cmp.Diff(want, texts(tree, at, want)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		alice.Delete(child).Want(204)
		tree = alice.Get(grandchild + "/forks").Want(200)
		at = branchOf(t, tree, "child")
		if at == "" { // a deleted session may have lost its name
			at = branchOf(t, tree, "")
		}
		if tree.Raw(at+".deleted") != "true" || tree.Str(at+".children.0.name") != "grandchild" {
			t.Errorf("got %s", tree.Body)
		}
		alice.Get(child + "/forks").Want(404)
	})
}

// branchOf is the path of the root's child with that name.
func branchOf(t *testing.T, tree *e2e.Answer, name string) string {
	t.Helper()
	i := slices.Index(tree.Each("data.children", "name"), name)
	if i < 0 {
		return ""
	}
	return "data.children." + strconv.Itoa(i)
}
