package e2e_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/property"
)

// testCrashes kills processes during runs: first those that push to watchers, at
// moments that differ between runs of the test, then those that call agents, then
// everything. Content that a watcher received stays, every watcher ends with what
// GET thread returns, and the sessions can be used again.
func (a *endless) testCrashes(t *testing.T, sys *e2e.System) {
	t.Helper()
	own := sys.Lasting(t, a.env())
	random := property.Rand(t, 0)

	stories := []*story{newStory(t, own, nil), newStory(t, own, nil), newStory(t, own, nil)}
	words := killPushers(t, own, stories, random)
	for _, s := range stories {
		s.awaitWords(t, words)
	}
	if n := own.KillWorkers(t, "runner"); n < len(stories) {
		t.Fatalf("%d runners were killed", n)
	}
	last := newStory(t, own, nil)
	last.awaitWords(t, 10)
	silent := fallSilent(t, own)
	own.Restart(t)
	stories = append(stories, last, silent)
	outlast(t, own)
	mustSweep(t, own)
	for i, s := range stories {
		if got := s.user.Get(s.session + "/runs/" + s.run).Want(200); got.Str("data.status") != "failed" {
			t.Errorf("run %d is %s", i, got.Body)
		}
	}
	for _, s := range stories {
		s.mustGoOn(t)
	}
	t.Run("a lost worker does not stop a queue", func(t *testing.T) { testQueueLost(t, own) })
}

// story is a session whose run is killed.
type story struct {
	user      *e2e.User
	session   string
	run       string
	followers []*e2e.Follower
	said      string // words of the run before it was killed
}

func newStory(t *testing.T, sys *e2e.System, run e2e.M) *story {
	t.Helper()
	s := &story{user: sys.User(t, "alice")}
	s.session = mustCreate(t, s.user, nil)
	s.followers = mustFollow(t, s.user, s.session, "watcher")
	_, s.run = mustRun(t, s.user, s.session, endlessly, run)
	return s
}

// endlessly asks the demo agent for a longer answer than any test waits for.
const endlessly = "/long 2000"

// mustGoOn checks what a lost run leaves, and that the next input works.
func (s *story) mustGoOn(t *testing.T) {
	t.Helper()
	thread := mustAgree(t, s.user, s.session, s.followers)
	if thread.Status != view.Failed || thread.RunID != s.run || thread.Error == nil || thread.Error.Code != "worker_lost" {
		t.Errorf("the thread is %s of run %q: %+v", thread.Status, thread.RunID, thread.Error)
	}
	kept := answers(view.Session{Items: thread.Items}, s.run)
	if len(kept) != 1 || !strings.HasPrefix(textOf(kept[0]), s.said) || !strings.HasPrefix(words(2000), textOf(kept[0])) {
		t.Errorf("%q was shown, but the thread has %q", s.said, textsOf(kept))
	}
	_, next := mustRun(t, s.user, s.session, "hello", nil)
	mustSee(t, s.followers, "the next answer", answered(next))
	if got := mustAgree(t, s.user, s.session, s.followers).Items; len(got) != 2 {
		t.Errorf("thread: %q", textsOf(got))
	}
}

// awaitWords waits until every follower shows that many words of the run, and records
// them.
func (s *story) awaitWords(t *testing.T, words int) {
	t.Helper()
	for _, f := range s.followers {
		view := f.Until(t, "more of the answer", hasWords(s.run, words))
		s.said = strings.Join(textsOf(answers(view, s.run)), "")
	}
}

// killPushers kills the fan-out and the functions with open streams, repeatedly
// while answers stream. It returns how many words of one answer had arrived by
// then.
func killPushers(t *testing.T, sys *e2e.System, stories []*story, random *rand.Rand) (words int) {
	t.Helper()
	killed := 0
	for range 4 {
		words += 3 + random.IntN(12)
		stories[random.IntN(len(stories))].awaitWords(t, words)
		for _, function := range []string{"fanout", "watch", "sse"} {
			if function == "fanout" || random.IntN(2) == 0 {
				killed += sys.KillWorkers(t, function)
			}
		}
	}
	if killed == 0 {
		t.Error("nothing was killed")
	}
	return words
}

// fallSilent starts a run of an external agent that sends no heartbeats.
func fallSilent(t *testing.T, sys *e2e.System) *story {
	t.Helper()
	s := newStory(t, sys, e2e.M{"mode": "external", "agent": "analyst"})
	push := e2e.M{"item_id": "half", "deltas": []e2e.M{{"part": 0, "text": words(3)}}}
	s.user.Post(s.session+"/runs/"+s.run+"/deltas", push).Want(200)
	s.awaitWords(t, 3)
	return s
}

// await polls until is reports true.
func await(t *testing.T, what string, is func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for !is(ctx) {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("timed out: %s", what)
		}
	}
}
