package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testRewoundOften reads and continues a session whose header has only a part of its timeline:
// every function that shows a session must be permitted to read the rest.
func testRewoundOften(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	const rewinds = 20 // more than the parts of an outline
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	var shown []string
	for i := range rewinds {
		kept, tried := fmt.Sprint("kept-", i), fmt.Sprint("tried-", i)
		mustAppend(t, alice, s, event(kept, kept), event(tried, tried))
		mustRewind(t, alice, s, tried, nil)
		shown = append(shown, kept)
	}
	mustSave(t, alice, s, "task", "saved")

	bob := sys.User(t, "bob")
	moved := sessionPath(bob.Post(api+"/sessions/import?id="+uuid.NewString(), string(alice.Get(s+"/export").Want(200).Body)).Want(201).Str("data.id"))
	compareViews(t, alice, s, bob, moved)
	fork := sessionPath(alice.Post(s+"/fork", nil).Want(201).Str("data.id"))
	mustAppend(t, alice, fork, event("forked", "forked"))
	for _, of := range []struct {
		u    *e2e.User
		path string
		more []string
	}{{alice, s, nil}, {bob, moved, nil}, {alice, fork, []string{"forked"}}} {
		want := slices.Concat(shown, of.more)
		got := of.u.Get(of.path+"/events").Want(200).Each("data", "content.parts.0.text")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events of %s (-want +got)\n%s", of.path, diff)
		}
		got = of.u.Get(of.path+"/thread").Want(200).Each("data.items", "content.parts.0.text")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("thread of %s (-want +got)\n%s", of.path, diff)
		}
		if n := len(of.u.Get(of.path + "/tasks").Want(200).List("tasks")); n != 1 {
			t.Errorf("%d tasks of %s, want 1", n, of.path)
		}
	}

	_, run := mustRun(t, alice, s, "go", nil)
	mustSee(t, mustFollow(t, alice, s, "reader"), "the answer begins", hasWords(run, 1))
	alice.Post(s+"/runs/"+run+"/cancel", nil).Want(200)
	if diff := cmp.Diff(append(shown, "go"), agent.asked(run)); diff != "" {
		t.Errorf("the agent was asked (-want +got)\n%s", diff)
	}
	mustRewind(t, alice, s, "kept-0", nil)
	if n := len(alice.Get(s + "/events").Want(200).List("data")); n != 0 {
		t.Errorf("%d events before the first, want none", n)
	}
}
