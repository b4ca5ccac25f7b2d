package e2e_test

import (
	"path"
	"strings"
	"testing"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
	domain "github.com/rethread/rethread/shared/domain/run"
)

// testClock has time pass, in a system of its own. The tests are one after the other, as
// an advance is one for all of them.
func testClock(t *testing.T, sys *e2e.System) {
	t.Helper()
	agent := newCareful(t)
	own := sys.Of(t, sweptByTests, agent.env())
	testLeases(t, own)
	t.Run("another worker continues a run", func(t *testing.T) { testContinuation(t, own, agent) })
	t.Run("a connection ends when its token expires", func(t *testing.T) { testWatchExpiry(t, own) })
	t.Run("a guest gets no messages after the share expires", func(t *testing.T) { testWatchExpired(t, own) })
	t.Run("over MCP, a token that expires ends access, and a new one continues", func(t *testing.T) { testMCPExpiry(t, own) })
}

// testLeases lets runs fall silent without a request about them. The first of an
// append, a new watcher and the sweeper ends such a run, and watchers are
// notified.
func testLeases(t *testing.T, sys *e2e.System) {
	t.Helper()
	for name, comeBy := range map[string]func(*testing.T, *e2e.User, string){
		"an append ends a run whose lease is out": func(t *testing.T, u *e2e.User, session string) {
			t.Helper()
			partial := event("other", "half a w") // changes nothing
			partial["partial"] = true
			u.Post(session+"/events", e2e.M{"events": []e2e.M{partial}}).Want(200)
		},
		"a new watcher ends one": func(t *testing.T, u *e2e.User, session string) {
			t.Helper()
			mustSubscribe(t, u.Socket(), session, nil)
		},
		"the sweeper ends one": func(t *testing.T, _ *e2e.User, _ string) {
			t.Helper()
			mustSweep(t, sys)
		},
	} {
		t.Run(name, func(t *testing.T) {
			user := sys.User(t, "alice")
			session := mustCreate(t, user, nil)
			follower := user.Follow(path.Base(session), "watcher", e2e.Sockets)
			mustSee(t, []*e2e.Follower{follower}, "the thread", hasStatus(view.Idle))
			mustRun(t, user, session, "hello", e2e.M{"mode": "external", "agent": "analyst"})
			mustSee(t, []*e2e.Follower{follower}, "the run", hasStatus(view.InProgress))
			outlast(t, sys)
			comeBy(t, user, session)
			mustSee(t, []*e2e.Follower{follower}, "the end of the run", hasStatus(view.Failed))
		})
	}
}

// sweptByTests changes the template so that the sweeper runs only when a test invokes
// it, so that a test shows what else ends a run.
func sweptByTests(template string) string {
	return strings.ReplaceAll(template, "rate(1 minute)", "rate(365 days)")
}

// outlast has the lease of each run of a system run out.
func outlast(t *testing.T, sys *e2e.System) {
	t.Helper()
	sys.Advance(t, domain.Lease)
}

// mustSweep invokes the sweeper, as the schedule does each minute.
func mustSweep(t *testing.T, sys *e2e.System) {
	t.Helper()
	mustInvoke(t, sys, "SweeperFunction", []byte("{}"))
}

func hasStatus(status view.Status) func(view.Session) bool {
	return func(s view.Session) bool { return s.Status == status }
}
