package e2e_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/watch"
)

// words is the demo agent's answer to "/long n".
func words(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "word%d ", i+1)
	}
	return strings.TrimSpace(text.String())
}

func (a *endless) testRuns(t *testing.T, sys *e2e.System) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *e2e.System, *endless){
		"an answer streams to all watchers, whenever they subscribed":   testStreaming,
		"a cancelled run stops, and none of its output is stored later": testCancel,
		"cancel_and_merge asks with both inputs at once":                testMerge,
		"concurrent cancel_and_merge requests keep all inputs":          testMergeMany,
		"an active run excludes others":                                 testReject,
		"others may append while an item streams":                       testInterleaved,
		"an agent answers its own input":                                testAsked,
		"a fork omits the item in progress":                             testForkStreaming,
		"a run of a silent agent can be cancelled":                      testSilent,
		"an agent produces every kind of content":                       testAnswers,
		"an agent that fails":                                           testFailures,
		"an external agent pushes its output":                           testExternal,
		"history is rewound while it is watched":                        testRewindWatched,
		"a session that was rewound often is shown everywhere":          testRewoundOften,
		"a session is deleted while it is watched":                      testDeleteWatched,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, sys, a)
		})
	}
}

func testStreaming(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	early := mustFollow(t, alice, s, "early")
	started, run := mustRun(t, alice, s, "/long 80", nil)
	if started.Str("data.status") != "in_progress" || started.Str("data.session.active_run_id") != run ||
		started.Str("data.items.0.invocation_id") != run || started.Str("data.run.mode") != "agent" ||
		!strings.HasSuffix(started.Header.Get("Location"), s+"/runs/"+run) {
		t.Errorf("started: %s", started.Body)
	}
	mustSee(t, early, "the answer begins", hasWords(run, 5))
	late := mustFollow(t, alice, s, "late")
	early[0].Cut()
	early[1].Cut()
	all := slices.Concat(early, late)
	mustSee(t, all, "the answer", answered(run))
	thread := mustAgree(t, alice, s, all)
	if diff := cmp.Diff([]string{"/long 80", words(80)}, textsOf(thread.Items)); diff != "" {
		t.Errorf("thread (-want +got)\n%s", diff)
	}
	if got := alice.Get(s + "/runs/" + run).Want(200); got.Str("data.status") != "completed" || got.Raw("data.error") != "null" {
		t.Errorf("run: %s", got.Body)
	}
	if shown := alice.Get(s + "/events").Want(200); len(shown.List("data")) != 2 {
		t.Errorf("events: %s", shown.Body)
	}
	if whole := alice.Get(s + "/events?view=all").Want(200); whole.Str("data.2.type") != "run" || whole.Str("data.2.author") != "system" {
		t.Errorf("all events: %s", whole.Body)
	}
}

func testCancel(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	all := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "go on", nil)
	mustSee(t, all, "the answer begins", hasWords(run, 10))
	canceled := alice.Post(s+"/runs/"+run+"/cancel", nil).Want(200)
	if canceled.Str("data.status") != "idle" || canceled.Raw("data.session.active_run_id") != "null" {
		t.Errorf("canceled: %s", canceled.Body)
	}
	agent.mustHangUp(t, run)
	mustSee(t, all, "the run is over", answered(run))
	if again := alice.Post(s+"/runs/"+run+"/cancel", nil).Want(200); string(again.Body) != string(canceled.Body) {
		t.Errorf("the thread changed from\n%s to\n%s", canceled.Body, again.Body)
	}
	if got := alice.Get(s + "/runs/" + run).Want(200); got.Str("data.status") != "cancelled" {
		t.Errorf("run: %s", got.Body)
	}
	thread := mustAgree(t, alice, s, all)
	if kept := textOf(thread.Items[1]); !strings.HasPrefix(kept, strings.Repeat(word, 10)) {
		t.Errorf("kept: %q", kept)
	}
	_, next := mustRun(t, alice, s, "hello", e2e.M{"agent": "demo"})
	mustSee(t, all, "the next answer", answered(next))
	thread = mustAgree(t, alice, s, all)
	if len(thread.Items) != 2 || thread.Items[0].InvocationID != next || thread.Cursor.Epoch != 1 {
		t.Errorf("the cancelled run is still shown: %q, epoch %d", textsOf(thread.Items), thread.Cursor.Epoch)
	}
}

func testMerge(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	all := mustFollow(t, alice, s, "watcher")
	_, first := mustRun(t, alice, s, "first", nil)
	mustSee(t, all, "the answer begins", hasWords(first, 2))
	merged, second := mustRun(t, alice, s, "second", e2e.M{"on_active": "cancel_and_merge", "agent": "demo"})
	if diff := cmp.Diff([]string{"first", "second"}, inputs(t, merged)); diff != "" {
		t.Errorf("input (-want +got)\n%s", diff)
	}
	agent.mustHangUp(t, first)
	mustSee(t, all, "the answer", answered(second))
	thread := mustAgree(t, alice, s, all)
	if got := textsOf(thread.Items); len(got) != 3 || !strings.HasPrefix(got[2], `You said: "second". That was message 2 of our talk.`) {
		t.Errorf("thread: %q", got)
	}
	if got := alice.Get(s + "/runs/" + first).Want(200); got.Str("data.status") != "cancelled" {
		t.Errorf("run: %s", got.Body)
	}
}

// testMergeMany sends six concurrent inputs to an active run: the agent must
// receive all of them, once, in the order of acceptance.
func testMergeMany(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	const callers = 6
	alice := sys.User(t, "alice")
	for range 2 {
		s := mustCreate(t, alice, e2e.M{"agent": "endless"})
		_, first := mustRun(t, alice, s, "first", nil)
		var n atomic.Int64
		statuses := race(t, callers, func(ctx context.Context) (*e2e.Answer, error) {
			return alice.Try(ctx, "POST", s+"/runs", e2e.M{
				"input": []e2e.M{says(fmt.Sprint("more ", n.Add(1)))}, "on_active": "cancel_and_merge",
			})
		})
		if statuses[0] != 202 || statuses[callers-1] != 202 {
			t.Fatalf("statuses %v", statuses)
		}
		var accepted []string
		for _, page := range allPages(t, alice, s+"/events?view=all&limit=1000") {
			for i, author := range page.Each("data", "author") {
				if author != "user" {
					continue
				}
				text := page.Str(fmt.Sprintf("data.%d.content.parts.0.text", i))
				if !slices.Contains(accepted, text) {
					accepted = append(accepted, text)
				}
			}
		}
		thread := alice.Get(s + "/thread").Want(200)
		if diff := cmp.Diff(accepted, inputs(t, thread)); diff != "" || len(accepted) != callers+1 || accepted[0] != "first" {
			t.Errorf("%v were accepted; the thread (-accepted +shown)\n%s", accepted, diff)
		}
		last := thread.Str("data.run.id")
		await(t, "the agent to be asked", func(context.Context) bool { return agent.asked(last) != nil })
		if diff := cmp.Diff(accepted, agent.asked(last)); diff != "" {
			t.Errorf("the agent (-accepted +asked)\n%s", diff)
		}
		if got := alice.Get(s + "/runs/" + first).Want(200); got.Str("data.status") != "cancelled" {
			t.Errorf("run: %s", got.Body)
		}
		alice.Post(s+"/runs/"+last+"/cancel", nil).Want(200)
	}
}

// inputs are the texts of the user's items in a thread.
func inputs(t *testing.T, thread *e2e.Answer) []string {
	t.Helper()
	var out []string
	for i, author := range thread.Each("data.items", "author") {
		if author == "user" {
			out = append(out, thread.Str(fmt.Sprintf("data.items.%d.content.parts.0.text", i)))
		}
	}
	return out
}

func testReject(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	_, run := mustRun(t, alice, s, "go on", nil)
	input := []e2e.M{says("me too")}
	if got := alice.Post(s+"/runs", e2e.M{"input": input}).Want(409); got.Str("run_id") != run {
		t.Errorf("refused: %s", got.Body)
	}
	alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": run}).Want(409)
	alice.Post(s+"/runs/"+run+"/deltas", e2e.M{"item_id": "mine", "deltas": []e2e.M{{"part": 0, "text": "x"}}}).Want(409)
	bob := sys.User(t, "bob")
	bob.Post(s+"/runs", e2e.M{"input": input}).Want(403)
	bob.Get(s + "/runs/" + run).Want(403)
	bob.Post(s+"/runs/"+run+"/cancel", nil).Want(403)
	alice.Get(s + "/runs/none").Want(404)
	rewound := alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": run, "cancel_run": true}).Want(200)
	if rewound.Str("data.session.status") != "idle" {
		t.Errorf("rewound: %s", rewound.Body)
	}
	agent.mustHangUp(t, run)
	if thread := alice.Get(s + "/thread").Want(200); len(thread.List("data.items")) != 0 || thread.Raw("data.run") != "null" {
		t.Errorf("thread: %s", thread.Body)
	}
}

func testInterleaved(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	all := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "/long 50", nil)
	for i := range 3 {
		mustSee(t, all, "more of the answer", hasWords(run, 8*(i+1)))
		mustAppend(t, alice, s, event("aside", fmt.Sprint("aside ", i)))
	}
	mustSee(t, all, "the answer", answered(run))
	thread := mustAgree(t, alice, s, all)
	if got := textsOf(thread.Items); len(got) != 5 || got[1] != words(50) || got[4] != "aside 2" {
		t.Errorf("thread: %q", got)
	}
	for _, f := range all[:2] {
		if f.Seen(watch.Reload) > 0 {
			t.Errorf("%s got a reload", f.Name)
		}
	}
}

func testSilent(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	all := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "/silent", nil)
	mustSee(t, all, "the run", func(c view.Session) bool { return c.Status == view.InProgress })
	alice.Post(s+"/runs/"+run+"/cancel", nil).Want(200)
	mustSee(t, all, "the end of the run", func(c view.Session) bool { return c.Status == view.Idle })
	mustAgree(t, alice, s, all)
}

func testDeleteWatched(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	all := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "go on", nil)
	mustSee(t, all, "the answer begins", hasWords(run, 3))
	alice.Delete(s).Want(204)
	mustSee(t, all, "the end of the session", func(c view.Session) bool { return c.Deleted })
	alice.Get(s + "/thread").Want(404)
	alice.Get(s + "/runs/" + run).Want(404)
}

func testRewindWatched(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	all := mustFollow(t, alice, s, "watcher")
	var runs []string
	for _, text := range []string{"/state a=1", "/state a=2"} {
		_, run := mustRun(t, alice, s, text, nil)
		mustSee(t, all, "the answer", answered(run))
		runs = append(runs, run)
	}
	before := mustAgree(t, alice, s, all)
	rewound := alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": runs[1]}).Want(200)
	after := mustAgree(t, alice, s, all)
	if len(after.Items) != 2 || after.Cursor.Epoch != 1 {
		t.Errorf("thread: %q, epoch %d", textsOf(after.Items), after.Cursor.Epoch)
	}
	for _, f := range all[:2] {
		if f.Seen(watch.Rewound) == 0 {
			t.Errorf("%s got no message about the rewind", f.Name)
		}
	}
	if got := alice.Get(s + "/state").Want(200).Raw("data.session"); got != `{"a":1}` {
		t.Errorf("state: %s", got)
	}
	alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": rewound.Str("data.event.invocation_id")}).Want(200)
	again := mustAgree(t, alice, s, all)
	if !slices.Equal(textsOf(again.Items), textsOf(before.Items)) || again.Cursor.Epoch != 2 {
		t.Errorf("thread: %q, epoch %d", textsOf(again.Items), again.Cursor.Epoch)
	}
	gone := alice.Watch(s, map[string][]string{"cursor": {"0.1.0"}})
	defer gone.Close()
	if f, _, ok := gone.Next(); !ok || f.Type != string(watch.Reload) || f.Str(t, "reason") != watch.ReasonEpoch || f.SessionID != path.Base(s) {
		t.Errorf("of an old epoch: %s", f.Text)
	}
}
