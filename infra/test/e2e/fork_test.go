package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testFork(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("forks from the second message and leaves the original unchanged", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{
			"agent": "analyst", "name": "Sales", "metadata": e2e.M{"channel": "web"}, "state": e2e.M{"initial": 1},
		})
		mustTalk(t, alice, s, 3)
		before := everything(alice, s)

		got := alice.Post(s+"/fork", e2e.M{"rewind_before_invocation_id": "inv-2"}).Want(201)
		f := sessionPath(got.Str("data.id"))
		want := map[string]string{
			"user_id": alice.ID, "app_name": "analyst", "agent": "analyst", "name": "Fork of Sales", "status": "idle",
			"metadata": `{"channel":"web"}`, "epoch": "0", "head_seq": "3",
			"fork": `{"session_id":"` + s[len(sessionPath("")):] + `","rewind_before_invocation_id":"inv-2","boundary_found":true}`,
		}
		if diff := cmp.Diff(want, texts(got, "data", want)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		read := alice.Get(got.Header.Get("Location")).Want(200)
		if string(read.Body) != string(got.Body) || read.Header.Get("ETag") != got.Header.Get("ETag") {
			t.Errorf("the fork was returned as %s, but is %s", got.Body, read.Body)
		}
		checkShows(t, alice, f, "* inv-1 inv-1", "task-1", `{"initial":1,"turn":1}`)
		checkIDs(t, alice, s, f, 3)

		mustAppend(t, alice, f, event("inv-2b", "another way"))
		mustRewind(t, alice, f, "inv-1", nil)
		mustAppend(t, alice, f, event("inv-5", "and another"))
		checkShows(t, alice, f, "* inv-5", "", `{"initial":1}`)
		if diff := cmp.Diff(before, everything(alice, s)); diff != "" {
			t.Errorf("the original changed (-before +after)\n%s", diff)
		}
	})
	t.Run("the original continues and the fork is unchanged", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		f := mustFork(t, alice, s, nil)
		before := everything(alice, f)
		mustChange(t, alice, s, "inv-3", e2e.M{"turn": "new"})
		alice.Post(s+"/tasks", e2e.M{"task_id": "task-1", "message_bubbles": []e2e.M{bubble("b", "user", "changed")}}).Want(200)
		mustRewind(t, alice, s, "inv-1", nil)
		alice.Delete(s+"/tasks/task-1").Want(204, 404)
		if diff := cmp.Diff(before, everything(alice, f)); diff != "" {
			t.Errorf("the fork changed (-before +after)\n%s", diff)
		}
	})
	t.Run("in A2A form, the inherited part is one completed task", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)
		for _, c := range []struct {
			before   any
			messages int // of the merged task
		}{{"inv-3", 2}, {"inv-1", 0}, {nil, 3}} {
			f := mustFork(t, alice, s, e2e.M{"rewind_before_invocation_id": c.before})
			id := f[len(sessionPath("")):]
			tasks := alice.Get("/api/sessions/" + id + "/tasks").Want(200)
			if got := len(tasks.List("data")); got != 1 {
				t.Errorf("before %v: %d tasks, want one", c.before, got)
			}
			if got := tasks.Str("data.0.status.state") + " " + tasks.Str("data.0.contextId"); got != "completed "+id {
				t.Errorf("before %v: the task is %s", c.before, got)
			}
			if got := len(tasks.List("data.0.history")); got != c.messages {
				t.Errorf("before %v: %d messages, want %d", c.before, got, c.messages)
			}
		}
		source := alice.Get("/api/sessions/" + s[len(sessionPath("")):] + "/tasks").Want(200)
		if got := len(source.List("data")); got != 3 {
			t.Errorf("the source has %d tasks, want 3", got)
		}
	})
	t.Run("a fork before the first invocation is empty", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 1)
		f := mustFork(t, alice, s, e2e.M{"rewind_before_invocation_id": "inv-1"})
		checkShows(t, alice, f, "", "", "{}")
		if first := mustAppend(t, alice, f, event("inv-2", "x")).Int("data.0.seq"); first != 1 {
			t.Errorf("its first event is at position %d", first)
		}
	})
	t.Run("without a boundary, or with an unknown one, the fork has everything", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		for _, body := range []any{nil, e2e.M{}, e2e.M{"rewind_before_invocation_id": nil}} {
			got := alice.Post(s+"/fork", body).Want(201)
			if id := got.Raw("data.fork.rewind_before_invocation_id"); id != "null" {
				t.Errorf("boundary %s", id)
			}
			checkShows(t, alice, sessionPath(got.Str("data.id")), "inv-1 inv-1 inv-2 inv-2", "task-1 task-2", `{"turn":2}`)
		}
		got := alice.Post(s+"/fork", e2e.M{"rewind_before_invocation_id": "inv-9"}).Want(201)
		if fork := got.Raw("data.fork"); !strings.HasSuffix(fork, `"rewind_before_invocation_id":"inv-9","boundary_found":false}`) {
			t.Errorf("fork %s", fork)
		}
		checkShows(t, alice, sessionPath(got.Str("data.id")), "inv-1 inv-1 inv-2 inv-2", "task-1 task-2", `{"turn":2}`)
	})
	t.Run("both base paths fork", func(t *testing.T) {
		alice := sys.User(t, "alice")
		id := alice.Post("/api/sessions", e2e.M{}).Want(201).Str("data.id")
		got := alice.Post("/api/sessions/"+id+"/fork", e2e.M{}).Want(201)
		if at := got.Header.Get("Location"); at != "/api/sessions/"+got.Str("data.id") {
			t.Errorf("Location %s", at)
		}
		alice.Get("/api/sessions/" + id + "/forks").Want(200)
	})
	testForkOfForks(t, sys)
	testForkRefused(t, sys)
	testForkTree(t, sys)
}

func testForkOfForks(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("a fork of a fork of a rewound session", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)
		mustRewind(t, alice, s, "inv-2", nil)
		mustChange(t, alice, s, "inv-4", e2e.M{"turn": 4})
		one := mustFork(t, alice, s, nil)
		mustChange(t, alice, one, "inv-5", e2e.M{"turn": 5})
		two := mustFork(t, alice, one, e2e.M{"rewind_before_invocation_id": "inv-5"})
		mustChange(t, alice, two, "inv-6", e2e.M{"turn": 6})
		checkShows(t, alice, one, "inv-1 inv-1 inv-4 inv-5", "task-1", `{"turn":5}`)
		checkShows(t, alice, two, "inv-1 inv-1 inv-4 inv-6", "task-1", `{"turn":6}`)
		for _, session := range []string{one, two} {
			log := alice.Get(session + "/events?view=all").Want(200)
			if seqs := strings.Join(log.Each("data", "seq"), " "); seqs != "1 2 3 4" {
				t.Errorf("%s has %s", session, seqs)
			}
		}
		mustRewind(t, alice, two, "inv-4", nil)
		checkShows(t, alice, two, "inv-1 inv-1", "task-1", `{"turn":1}`)
		alice.Delete(s).Want(204)
		alice.Delete(one).Want(204)
		checkShows(t, alice, two, "inv-1 inv-1", "task-1", `{"turn":1}`)
	})
	t.Run("forks from an invocation that a rewind has hidden", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)
		mustRewind(t, alice, s, "inv-1", nil)
		f := mustFork(t, alice, s, e2e.M{"rewind_before_invocation_id": "inv-3"})
		checkShows(t, alice, f, "inv-1 inv-1 inv-2 inv-2", "task-1 task-2", `{"turn":2}`)
		checkShows(t, alice, s, "", "", "{}")
	})
	t.Run("shared values are unchanged by the fork", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"app_name": uuid.NewString()})
		mustChange(t, alice, s, "inv-1", e2e.M{"k": 1, "user:u": 1})
		mustChange(t, alice, s, "inv-2", e2e.M{"k": 2, "user:u": 2})
		f := mustFork(t, alice, s, e2e.M{"rewind_before_invocation_id": "inv-2"})
		checkState(t, alice, f, `{"k":1,"user:u":2}`)
		mustRewind(t, alice, f, "inv-1", e2e.M{"on_conflict": "restore"})
		checkState(t, alice, f, `{"user:u":2}`)
		checkState(t, alice, s, `{"k":2,"user:u":2}`)
	})
	t.Run("messages belong to the fork", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		b := bubble("b", "agent", "x")
		b["parts"] = []e2e.M{{"history": []e2e.M{{
			"message_id": "m1", "context_id": s[len(sessionPath("")):], "task_id": "t1", "role": "agent",
		}}}}
		alice.Post(s+"/tasks", e2e.M{"task_id": "t1", "message_bubbles": []e2e.M{b}}).Want(201)
		f := mustFork(t, alice, s, nil)
		task := alice.Get(f + "/tasks").Want(200)
		message := task.Raw("tasks.0.message_bubbles.0.parts.0.history.0")
		for _, own := range []string{f[len(sessionPath("")):], task.Str("tasks.0.task_id"), "m1"} {
			if !strings.Contains(message, `"`+own+`"`) {
				t.Errorf("the message is %s", message)
			}
		}
	})
}

func testForkRefused(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("refused requests and dry runs make no session", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		s := mustCreate(t, alice, e2e.M{"name": "only"})
		mustTalk(t, alice, s, 2)
		dry := alice.Post(s+"/fork", e2e.M{"rewind_before_invocation_id": "inv-2", "dry_run": true, "name": "mine"}).Want(200)
		if dry.Str("data.name") != "mine" || dry.Int("data.head_seq") != 2 || dry.Header.Get("Location") != "" {
			t.Errorf("a dry run answers %v %s", dry.Header, dry.Body)
		}
		alice.Get(sessionPath(dry.Str("data.id"))).Want(404)
		alice.Post(s+"/fork", e2e.M{"rewind_before_invocation_id": "inv-9", "strict": true}).Want(400)
		bob.Post(s+"/fork", e2e.M{}).Want(403)
		bob.Get(s + "/forks").Want(403)
		alice.Post(sessionPath(uuid.NewString())+"/fork", e2e.M{}).Want(404)
		alice.Get(sessionPath(uuid.NewString()) + "/forks").Want(404)
		sys.Bearer(t, "", "").Post(s+"/fork", e2e.M{}, e2e.Bad).Want(401)
		alice.Post(s+"/fork", `{"name":1}`, e2e.Bad).Want(400)
		alice.Post(s+"/fork", `{"rewind_before_invocation_id":""}`, e2e.Bad).Want(422)
		alice.Post(s+"/fork", e2e.M{"name": strings.Repeat("ü", 257)}, e2e.Bad).Want(422)
		for _, u := range []*e2e.User{alice, bob} {
			if n := len(u.Get(api + "/sessions").Want(200).List("data")); n > 1 {
				t.Errorf("%d sessions", n)
			}
		}
	})
	t.Run("a request repeated with its key forks once", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		first := alice.Post(s+"/fork", e2e.M{}, key).Want(201)
		again := alice.Post(s+"/fork", e2e.M{}, key).Want(201)
		if string(first.Body) != string(again.Body) || again.Header.Get("Location") != first.Header.Get("Location") {
			t.Errorf("%s, then %s", first.Body, again.Body)
		}
		alice.Post(s+"/fork", e2e.M{"name": "x"}, key).Want(422)
		if n := len(alice.Get(api + "/sessions").Want(200).List("data")); n != 2 {
			t.Errorf("%d sessions", n)
		}
	})
}

// mustFork forks a session and returns the fork's path.
func mustFork(t *testing.T, u *e2e.User, session string, body e2e.M) string {
	t.Helper()
	if body == nil {
		body = e2e.M{}
	}
	return sessionPath(u.Post(session+"/fork", body).Want(201).Str("data.id"))
}

// checkIDs compares the inherited part of a fork with its source: the same content
// under other ids, numbered without gaps.
func checkIDs(t *testing.T, u *e2e.User, source, fork string, n int) {
	t.Helper()
	from, to := u.Get(source+"/events").Want(200), u.Get(fork+"/events").Want(200)
	theirs := from.Each("data", "id")
	for i, id := range to.Each("data", "id") {
		if slices.Contains(theirs, id) {
			t.Errorf("event %s is in both", id)
		}
		at := "data." + strconv.Itoa(i)
		want := map[string]string{"session_id": fork[len(sessionPath("")):], "seq": strconv.Itoa(i + 1)}
		if diff := cmp.Diff(want, texts(to, at, want)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", at, diff)
		}
		for _, same := range []string{".invocation_id", ".author", ".content", ".actions", ".created_time"} {
			if to.Raw(at+same) != from.Raw(at+same) {
				t.Errorf("%s is %s, in the source %s", at+same, to.Raw(at+same), from.Raw(at+same))
			}
		}
	}
	if got := len(to.List("data")); got != n {
		t.Errorf("%d events, want %d", got, n)
	}
	mine, yours := u.Get(fork+"/tasks").Each("tasks", "task_id"), u.Get(source+"/tasks").Each("tasks", "task_id")
	for _, id := range mine {
		if slices.Contains(yours, id) {
			t.Errorf("task %s is in both", id)
		}
		u.Get(fork + "/tasks/" + id).Want(200)
	}
}

// everything is all that a reader can see of a session.
func everything(u *e2e.User, session string) map[string]string {
	out := map[string]string{}
	for _, path := range []string{"", "/events", "/events?view=all", "/tasks", "/messages", "/state"} {
		out[path] = string(u.Get(session + path).Want(200).Body)
	}
	return out
}
