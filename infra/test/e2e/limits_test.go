package e2e_test

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// testQuotas reaches the limits of a user, over HTTP and over A2A.
func testQuotas(t *testing.T, sys *e2e.System) {
	t.Helper()
	tight := sys.Another(t, "MAX_SESSIONS=3", "MAX_RUNS=1")
	ada, bob := tight.User(t, "ada"), tight.User(t, "bob")
	usage := func(sessions, runs int64) {
		t.Helper()
		got := ada.Get(api + "/me/usage").Want(200)
		if got.Int("data.sessions.used") != sessions || got.Int("data.sessions.limit") != 3 ||
			got.Int("data.runs.used") != runs || got.Int("data.runs.limit") != 1 || got.Raw("data.bytes.limit") != "null" {
			t.Errorf("used is %s", got.Body)
		}
	}
	refused := func(a *e2e.Answer, quota string) {
		t.Helper()
		if a.Want(429).Str("quota") != quota || a.Header.Get("Retry-After") == "" {
			t.Errorf("refused with %v %s", a.Header, a.Body)
		}
	}
	usage(0, 0)
	first, second := mustCreate(t, ada, nil), mustCreate(t, ada, nil)
	_, run := mustRun(t, ada, first, "hello", e2e.M{"mode": "external", "agent": "analyst"})
	usage(2, 1)
	refused(ada.Post(second+"/runs", e2e.M{"mode": "external", "agent": "analyst", "input": []e2e.M{says("more")}}), "runs")
	agent := mustDial(t, tight, ada, a2a.TransportProtocolJSONRPC, "1.0")
	if _, err := agent.SendMessage(t.Context(), say("", "a task")); err == nil || !strings.Contains(err.Error(), "1 runs at work") {
		t.Errorf("over A2A: %v", err)
	}
	usage(2, 1) // the task left no context
	mustCreate(t, ada, nil)

	refused(ada.Post(api+"/sessions", e2e.M{}), "sessions")
	refused(ada.Post(first+"/fork", nil), "sessions")
	doc := ada.Get(second + "/export").Want(200)
	refused(ada.Post(api+"/sessions/import?id=again", string(doc.Body)), "sessions")
	bob.Post(api+"/sessions/import?id=his", string(doc.Body)).Want(201)
	mustCreate(t, bob, nil)

	ada.Post(first+"/runs/"+run+"/cancel", nil).Want(200)
	mustRun(t, ada, second, "hello", e2e.M{"mode": "external", "agent": "analyst"})
	ada.Delete(first).Want(204)
	mustCreate(t, ada, nil)
	usage(3, 1)
}

// testRetention lets sessions become due and runs the sweeper: unused sessions are
// deleted, and watchers are notified.
func testRetention(t *testing.T, sys *e2e.System) {
	t.Helper()
	own := sys.Another(t, "RETENTION=1h", `AGENTS={"keeper":{"type":"http","url":"http://127.0.0.1:9","retention":"30d"}}`)
	user := own.User(t, "alice")
	idle, used := mustCreate(t, user, nil), mustCreate(t, user, e2e.M{"state": e2e.M{"k": 1}})
	kept, longer := mustCreate(t, user, e2e.M{"agent": "keeper"}), mustCreate(t, user, e2e.M{"retention": 7200})
	for path, want := range map[string]int64{idle: 3600, kept: 30 * 24 * 3600, longer: 7200} {
		if got := user.Get(path).Want(200).Int("data.retention"); got != want {
			t.Errorf("%s is kept for %d s, want %d", path, got, want)
		}
	}
	follower := user.Follow(path.Base(idle), "watcher", e2e.Sockets)
	mustSee(t, []*e2e.Follower{follower}, "the thread", hasStatus(view.Idle))
	own.Advance(t, 30*time.Minute)
	mustSweep(t, own)
	user.Get(idle).Want(200)
	mustAppend(t, user, used, event("i", "still here"))
	own.Advance(t, 30*time.Minute)
	mustSweep(t, own)
	user.Get(idle).Want(404)
	mustSee(t, []*e2e.Follower{follower}, "the end of the session", func(c view.Session) bool { return c.Deleted })
	for _, path := range []string{used, kept, longer} {
		user.Get(path).Want(200)
	}
}
