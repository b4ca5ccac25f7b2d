package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// testQueue tests inputs that wait for the runs before them.
func (a *endless) testQueue(t *testing.T, sys *e2e.System) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *e2e.System, *endless){
		"inputs wait, are cancelled and run in order, which all watchers see": testQueueInOrder,
		"a queue is bounded, and a repeated request queues nothing more":      testQueueBounds,
		"a queue waits behind a failure if its first input asks for that":     testQueueBlocked,
		"a queue that is read by many processes that die runs once":           testQueueRedelivered,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, sys, a)
		})
	}
}

// mustEnqueue queues an input, and returns the answer and the run that waits.
func mustEnqueue(t *testing.T, u *e2e.User, session, text string, more e2e.M) (*e2e.Answer, string) {
	t.Helper()
	body := e2e.M{"input": []e2e.M{says(text)}, "on_active": "enqueue"}
	for name, value := range more {
		body[name] = value
	}
	answer := u.Post(session+"/runs", body).Want(202)
	_, run, _ := strings.Cut(answer.Header.Get("Location"), "/runs/")
	return answer, run
}

// queuedTexts are the inputs that a session shows as queued.
func queuedTexts(s view.Session) []string {
	out := []string{}
	for _, q := range s.Queued {
		for _, raw := range q.Input {
			var e view.Event
			if json.Unmarshal(raw, &e.Fields) == nil {
				out = append(out, textOf(e))
			}
		}
	}
	return out
}

// queues reports whether exactly these inputs wait.
func queues(texts ...string) func(view.Session) bool {
	return func(s view.Session) bool { return slices.Equal(queuedTexts(s), texts) }
}

// emptied reports whether a run has been answered, and no input waits.
func emptied(run string) func(view.Session) bool {
	return func(s view.Session) bool { return len(s.Queued) == 0 && answered(run)(s) }
}

func testQueueInOrder(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	all := mustFollow(t, alice, s, "watcher")
	_, first := mustRun(t, alice, s, "first", e2e.M{"agent": "endless"})
	mustSee(t, all, "the answer begins", hasWords(first, 2))
	_, second := mustEnqueue(t, alice, s, "second", nil)
	_, third := mustEnqueue(t, alice, s, "third", nil)
	last, fourth := mustEnqueue(t, alice, s, "fourth", nil)
	if last.Str("data.status") != "in_progress" || last.Str("data.session.active_run_id") != first || len(last.List("data.queued")) != 3 {
		t.Errorf("queued: %s", last.Body)
	}
	mustSee(t, all, "three queued inputs", queues("second", "third", "fourth"))
	if got := alice.Get(s + "/runs/" + third).Want(200); got.Str("data.status") != "queued" {
		t.Errorf("a queued run: %s", got.Body)
	}
	if got := alice.Post(s+"/runs", e2e.M{"input": []e2e.M{says("me too")}}).Want(409); got.Str("run_id") != first {
		t.Errorf("refused: %s", got.Body)
	}
	if got := alice.Post(s+"/runs/"+third+"/cancel", nil).Want(200); len(got.List("data.queued")) != 2 {
		t.Errorf("cancelled: %s", got.Body)
	}
	if got := alice.Get(s + "/runs/" + third).Want(200); got.Str("data.status") != "cancelled" {
		t.Errorf("a run cancelled in the queue: %s", got.Body)
	}
	mustSee(t, all, "two queued inputs", queues("second", "fourth"))
	all = append(all, mustFollow(t, alice, s, "late")...)
	mustSee(t, all, "two queued inputs", queues("second", "fourth"))
	all[0].Cut()
	all[1].Cut()
	alice.Post(s+"/runs/"+first+"/cancel", nil).Want(200)
	agent.mustHangUp(t, first)
	mustSee(t, all, "the last answer", emptied(fourth))
	thread := mustAgree(t, alice, s, all)
	var runs, texts []string
	for _, item := range thread.Items {
		if runs = append(runs, item.InvocationID); item.Author == "user" {
			texts = append(texts, textOf(item))
		}
	}
	if diff := cmp.Diff([]string{"second", "fourth"}, texts); diff != "" {
		t.Errorf("inputs (-want +got)\n%s", diff)
	}
	if want := []string{second, second, fourth, fourth}; !slices.Equal(runs, want) {
		t.Errorf("the items are of %v, want %v", runs, want)
	}
}

func testQueueBounds(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	const most = 10
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "endless"})
	_, run := mustRun(t, alice, s, "first", nil)
	body := e2e.M{"input": []e2e.M{says("again")}, "on_active": "enqueue"}
	key := e2e.Header("Idempotency-Key", "again-"+run)
	once := alice.Post(s+"/runs", body, key).Want(202)
	if twice := alice.Post(s+"/runs", body, key).Want(202); string(once.Body) != string(twice.Body) {
		t.Errorf("repeated, the answer is\n%s, it was\n%s", twice.Body, once.Body)
	}
	want := []string{"again"}
	for n := 2; n <= most; n++ {
		want = append(want, fmt.Sprint("waiting ", n))
		mustEnqueue(t, alice, s, want[n-1], nil)
	}
	if got := alice.Post(s+"/runs", body).Want(409); !strings.Contains(got.Str("detail"), fmt.Sprint(most)) {
		t.Errorf("a full queue: %s", got.Body)
	}
	page, _, err := view.ParseThread(alice.Get(s + "/thread").Want(200).Body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, queuedTexts(view.Session{Queued: page.Queued})); diff != "" {
		t.Errorf("queue (-want +got)\n%s", diff)
	}
	alice.Delete(s).Want(204)
	alice.Get(s + "/runs/" + page.Queued[0].RunID).Want(404)
}

func testQueueBlocked(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	all := mustFollow(t, alice, s, "watcher")
	_, first := mustRun(t, alice, s, "/long 60", nil)
	_, failing := mustEnqueue(t, alice, s, "/fail", nil)
	_, waiting := mustEnqueue(t, alice, s, "later", e2e.M{"on_failed": "block"})
	mustSee(t, all, "the failure", func(s view.Session) bool { return s.Status == view.Failed && s.RunID == failing })
	mustSee(t, all, "an input that waits", queues("later"))
	if got := alice.Get(s + "/runs/" + waiting).Want(200); got.Str("data.status") != "queued" {
		t.Errorf("the run behind a failure: %s", got.Body)
	}
	_, instead := mustRun(t, alice, s, "instead", nil)
	mustSee(t, all, "the last answer", emptied(waiting))
	var runs []string
	for _, item := range mustAgree(t, alice, s, all).Items {
		runs = append(runs, item.InvocationID)
	}
	if want := []string{first, first, instead, instead, waiting, waiting}; !slices.Equal(runs, want) {
		t.Errorf("the items are of %v, want %v", runs, want)
	}
}

// testQueueLost kills the worker of a run behind which inputs wait.
func testQueueLost(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	all := mustFollow(t, alice, s, "watcher")
	_, first := mustRun(t, alice, s, "first", e2e.M{"agent": "endless"})
	mustSee(t, all, "the answer begins", hasWords(first, 2))
	_, second := mustEnqueue(t, alice, s, "second", nil)
	_, third := mustEnqueue(t, alice, s, "third", nil)
	if n := sys.KillWorkers(t, "runner"); n == 0 {
		t.Fatal("no runner was killed")
	}
	outlast(t, sys)
	mustSweep(t, sys)
	mustSee(t, all, "the last answer", emptied(third))
	var runs []string
	for _, item := range mustAgree(t, alice, s, all).Items {
		runs = append(runs, item.InvocationID)
	}
	if want := []string{second, second, third, third}; !slices.Equal(runs, want) {
		t.Errorf("the items are of %v, want %v", runs, want)
	}
	if got := alice.Get(s + "/runs/" + first).Want(200); got.Str("data.error.code") != "worker_lost" {
		t.Errorf("the lost run: %s", got.Body)
	}
}

// testQueueRedelivered kills the function that begins queued runs while it may begin
// one, so that the stream delivers the ends of runs again; the sweeper looks at the
// queue at the same time.
func testQueueRedelivered(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	const inputs, kills = 4, 2 // of kills for each run; the stream repeats a batch five times
	own := sys.Another(t, agent.env())
	alice := own.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	all := mustFollow(t, alice, s, "watcher")
	_, last := mustRun(t, alice, s, "/long 10", nil)
	want := []string{last, last}
	for n := range inputs {
		_, last = mustEnqueue(t, alice, s, fmt.Sprint(n), nil)
		want = append(want, last, last)
	}
	killed, tries := 0, map[int]int{} // by how many inputs wait
	await(t, "the last answer", func(context.Context) bool {
		waiting := 0
		between := all[0].Shows(func(s view.Session) bool {
			waiting = len(s.Queued)
			return waiting > 0 && s.Status != view.InProgress
		})
		if between && tries[waiting] < kills {
			tries[waiting]++
			killed += own.KillWorkers(t, "dispatch") //nolint:contextcheck // it has the test's context
		}
		mustSweep(t, own) //nolint:contextcheck // as above
		return all[0].Shows(emptied(last))
	})
	mustSee(t, all, "the last answer", emptied(last))
	var runs []string
	for _, item := range mustAgree(t, alice, s, all).Items {
		runs = append(runs, item.InvocationID)
	}
	if !slices.Equal(runs, want) {
		t.Errorf("the items are of %v, want %v", runs, want)
	}
	if killed == 0 {
		t.Error("no process was killed")
	}
	t.Logf("%d processes were killed", killed)
}
