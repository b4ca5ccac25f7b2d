package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// testAsked appends events as soon as a run has started, mostly before its worker
// reads the session: the agent must not receive them.
func testAsked(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	const runs = 8
	alice := sys.User(t, "alice")
	for n := range runs {
		s := mustCreate(t, alice, e2e.M{"agent": "endless", "state": e2e.M{"n": n, "user:n": n}})
		watching := mustFollow(t, alice, s, "watcher")
		question := fmt.Sprint("question ", n)
		_, run := mustRun(t, alice, s, question, nil)
		for range 3 {
			alice.Post(s+"/events", e2e.M{"events": []e2e.M{{
				"invocation_id": "meanwhile", "author": "user", "content": says("answer this instead")["content"],
				"actions": e2e.M{"state_delta": e2e.M{"n": "changed", "user:n": "changed", "more": true}},
			}}}).Want(201)
		}
		mustSee(t, watching, "the answer begins", hasWords(run, 1))
		got := agent.wasAsked(run)
		if last := got.last(t); textOf(view.Event{Fields: last.Fields}) != question || last.InvocationID != run {
			t.Errorf("run %d was asked %q", n, textOf(view.Event{Fields: last.Fields}))
		}
		want := map[string]any{"n": float64(n), "user:n": float64(n)}
		if d := cmp.Diff(want, got.State); d != "" {
			t.Errorf("the state that run %d got (-want +got):\n%s", n, d)
		}
		alice.Post(s+"/runs/"+run+"/cancel", nil).Want(200)
	}
	t.Logf("%d runs answered their own input", runs)
}

// testForkStreaming forks while an answer streams and others append.
func testForkStreaming(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	watching := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "go on", nil)
	mustSee(t, watching, "the answer begins", hasWords(run, 2))
	for _, id := range []string{"one", "two"} {
		alice.Post(s+"/events", e2e.M{"events": []e2e.M{{
			"invocation_id": id, "author": "user", "content": says(id)["content"],
			"actions": e2e.M{"state_delta": e2e.M{"last": id}},
		}}}).Want(201)
	}
	check := func(when, path, state string, texts ...string) {
		t.Helper()
		var got []string
		answer := alice.Get(path + "/events").Want(200)
		for i := range answer.List("data") {
			if answer.Int(fmt.Sprintf("data.%d.seq", i)) != int64(i+1) {
				t.Errorf("%s: positions have gaps: %s", when, answer.Body)
			}
			got = append(got, answer.Str(fmt.Sprintf("data.%d.content.parts.0.text", i)))
		}
		if d := cmp.Diff(texts, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
		if raw := alice.Get(path + "/state").Want(200).Raw("data.merged"); raw != state {
			t.Errorf("%s: state %s", when, raw)
		}
	}
	fork := func(body e2e.M) string {
		forked := alice.Post(s+"/fork", body).Want(201)
		if forked.Raw("data.fork.boundary_found") != "true" || forked.Str("data.status") != "idle" {
			t.Errorf("fork: %s", forked.Body)
		}
		return sessionPath(forked.Str("data.id"))
	}
	whole, before := fork(e2e.M{}), fork(e2e.M{"rewind_before_invocation_id": "two", "strict": true})
	check("the whole", whole, `{"last":"two"}`, "go on", "one", "two")
	check("up to the second", before, `{"last":"one"}`, "go on", "one")
	alice.Post(s+"/runs/"+run+"/cancel", nil).Want(200)
	check("the whole, when the run is over", whole, `{"last":"two"}`, "go on", "one", "two")
	if all := alice.Get(s + "/thread").Want(200).Str("data.items.1.content.parts.0.text"); !strings.HasPrefix(all, word) {
		t.Errorf("the source lost its item: %q", all)
	}
}
