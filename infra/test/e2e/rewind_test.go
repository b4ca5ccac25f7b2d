package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testRewind(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("three turns, a rewind before the second, a reload, and another turn", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)

		got := mustRewind(t, alice, s, "inv-2", nil)
		want := map[string]string{
			"seq": "7", "author": "system", "session_id": s[len(sessionPath("")):], "status": "completed",
			"content.parts.0.text": "Session rewound", "actions.rewind_before_invocation_id": "inv-2",
			"actions.state_delta": `{"turn":1}`, "actions.artifact_delta": "{}",
		}
		if diff := cmp.Diff(want, texts(got, "data.event", want)); diff != "" {
			t.Errorf("the marker (-want +got)\n%s", diff)
		}
		want = map[string]string{
			"session.epoch": "1", "session.head_seq": "7", "restored.state": `{"turn":1}`, "restored.artifacts": "{}", "conflicts": "[]",
		}
		if diff := cmp.Diff(want, texts(got, "data", want)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if read := alice.Get(s).Want(200); read.Raw("data") != got.Raw("data.session") {
			t.Errorf("the session is %s, the rewind said %s", read.Raw("data"), got.Raw("data.session"))
		}
		for range 2 { // a reload changes nothing
			checkShows(t, alice, s, "inv-1 inv-1", "task-1", `{"turn":1}`)
		}

		mustAppend(t, alice, s, event("inv-4", "another way"))
		mustSave(t, alice, s, "task-4", "another way")
		checkShows(t, alice, s, "inv-1 inv-1 inv-4", "task-1 task-4", `{"turn":1}`)
		log := alice.Get(s + "/events?view=all").Want(200)
		if seqs := strings.Join(log.Each("data", "seq"), " "); !strings.HasPrefix(seqs, "1 2 3 4 5 6 7 8") {
			t.Errorf("the log has %s", seqs)
		}
		if marker := log.Raw("data.6"); marker != got.Raw("data.event") {
			t.Errorf("the log has the marker %s, the rewind said %s", marker, got.Raw("data.event"))
		}
	})
	t.Run("lists the same newest first", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)
		mustRewind(t, alice, s, "inv-3", nil)
		mustAppend(t, alice, s, event("inv-4", "x"))
		up, down := alice.Get(s+"/events").Each("data", "id"), alice.Get(s+"/events?order=desc").Each("data", "id")
		slices.Reverse(down)
		if diff := cmp.Diff(up, down); diff != "" || len(up) != 5 {
			t.Errorf("(-asc +desc)\n%s", diff)
		}
	})
	t.Run("a list started before a rewind must be restarted", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		page := alice.Get(s + "/events?limit=1").Want(200)
		mustRewind(t, alice, s, "inv-2", nil)
		alice.Get(page.Next()).Want(409)
	})
	t.Run("both base paths rewind", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		mustRewind(t, alice, strings.Replace(s, api, "/api", 1), "inv-2", nil)
		checkShows(t, alice, s, "inv-1 inv-1", "task-1", `{"turn":1}`)
	})
	t.Run("a session with tasks only can be rewound by their ids", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		for _, id := range []string{"t1", "t2", "t3"} {
			mustSave(t, alice, s, id, id)
		}
		mustRewind(t, alice, s, "t2", nil)
		checkShows(t, alice, s, "", "t1", "{}")
	})
	testRewindOfRewinds(t, sys)
	testRewindOfState(t, sys)
	testSharedState(t, sys)
	testRewindRefused(t, sys)
	testRacingRewinds(t, sys)
}

func testRewindOfRewinds(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("rewinding before a hidden invocation restores what preceded it", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)
		mustRewind(t, alice, s, "inv-1", nil)
		checkShows(t, alice, s, "", "", "{}")
		mustRewind(t, alice, s, "inv-3", nil)
		checkShows(t, alice, s, "inv-1 inv-1 inv-2 inv-2", "task-1 task-2", `{"turn":2}`)
	})
	t.Run("rewinding before a marker undoes its rewind", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 3)
		marker := mustRewind(t, alice, s, "inv-2", nil).Str("data.event.invocation_id")
		mustAppend(t, alice, s, event("inv-4", "x"))
		undone := mustRewind(t, alice, s, marker, nil)
		checkShows(t, alice, s, "inv-1 inv-1 inv-2 inv-2 inv-3 inv-3", "task-1 task-2 task-3", `{"turn":3}`)
		mustRewind(t, alice, s, undone.Str("data.event.invocation_id"), nil)
		checkShows(t, alice, s, "inv-1 inv-1 inv-4", "task-1", `{"turn":1}`)
		if epoch := alice.Get(s).Int("data.epoch"); epoch != 3 {
			t.Errorf("epoch %d", epoch)
		}
	})
	t.Run("a dry run returns the effects of a rewind without performing it", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"state": e2e.M{"turn": 0}})
		mustTalk(t, alice, s, 2)
		before := alice.Get(s).Body
		dry := mustRewind(t, alice, s, "inv-1", e2e.M{"dry_run": true})
		if after := alice.Get(s).Body; string(after) != string(before) {
			t.Errorf("the session went from %s to %s", before, after)
		}
		checkShows(t, alice, s, "* inv-1 inv-1 inv-2 inv-2", "task-1 task-2", `{"turn":2}`)
		done := mustRewind(t, alice, s, "inv-1", nil)
		for _, path := range []string{"data.restored", "data.conflicts", "data.event.seq", "data.event.actions", "data.session.epoch"} {
			if diff := cmp.Diff(dry.Raw(path), done.Raw(path)); diff != "" {
				t.Errorf("%s (-dry run +rewind)\n%s", path, diff)
			}
		}
		checkShows(t, alice, s, "*", "", `{"turn":0}`)
	})
	t.Run("a request repeated with its key rewinds once", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		key := e2e.Header("Idempotency-Key", uuid.NewString())
		body := e2e.M{"rewind_before_invocation_id": "inv-2"}
		first := alice.Post(s+"/rewind", body, key).Want(200)
		mustAppend(t, alice, s, event("inv-4", "x"))
		again := alice.Post(s+"/rewind", body, key).Want(200)
		if diff := cmp.Diff(string(first.Body), string(again.Body)); diff != "" || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%v\n%s", again.Header, diff)
		}
		alice.Post(s+"/rewind", e2e.M{"rewind_before_invocation_id": "inv-1"}, key).Want(422)
		checkShows(t, alice, s, "inv-1 inv-1 inv-4", "task-1", `{"turn":1}`)
	})
}

func testRewindRefused(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("a refused request changes nothing", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		before := alice.Get(s + "/events?view=all").Body
		for name, tc := range map[string]struct {
			user   *e2e.User
			path   string
			body   string
			status int
		}{
			"an unknown invocation":  {alice, s, `{"rewind_before_invocation_id":"inv-9"}`, 404},
			"an unknown session":     {alice, sessionPath(uuid.NewString()), `{"rewind_before_invocation_id":"inv-1"}`, 404},
			"another user's session": {bob, s, `{"rewind_before_invocation_id":"inv-1"}`, 403},
			"no invocation":          {alice, s, `{}`, 400},
			"an unknown scope":       {alice, s, `{"rewind_before_invocation_id":"inv-1","scopes":["temp"]}`, 422},
			"no scope":               {alice, s, `{"rewind_before_invocation_id":"inv-1","scopes":[]}`, 422},
			"an unknown conflict":    {alice, s, `{"rewind_before_invocation_id":"inv-1","on_conflict":"ask"}`, 422},
			"a wrong type":           {alice, s, `{"rewind_before_invocation_id":"inv-1","dry_run":1}`, 400},
			"no token":               {sys.Bearer(t, "", ""), s, `{"rewind_before_invocation_id":"inv-1"}`, 401},
		} {
			t.Run(name, func(t *testing.T) {
				sys.Bearer(t, tc.user.ID, tc.user.Token).Post(tc.path+"/rewind", tc.body, e2e.Bad).Want(tc.status)
			})
		}
		if after := alice.Get(s + "/events?view=all").Body; string(after) != string(before) {
			t.Errorf("the log went from %s to %s", before, after)
		}
	})
}

func testRacingRewinds(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("expected_seq must be the head", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		body := e2e.M{"rewind_before_invocation_id": "inv-2", "expected_seq": 3}
		if late := alice.Post(s+"/rewind", body).Want(409); late.Int("head_seq") != 4 {
			t.Errorf("refused: %s", late.Body)
		}
		checkShows(t, alice, s, "inv-1 inv-1 inv-2 inv-2", "task-1 task-2", `{"turn":2}`)
		body["expected_seq"] = 4
		statuses := race(t, 4, func(ctx context.Context) (*e2e.Answer, error) {
			return alice.Try(ctx, "POST", s+"/rewind", body)
		})
		if diff := cmp.Diff([]int{200, 409, 409, 409}, statuses); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		checkShows(t, alice, s, "inv-1 inv-1", "task-1", `{"turn":1}`)
	})
	t.Run("concurrent rewinds and appends leave a log without gaps", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustTalk(t, alice, s, 2)
		turn := make(chan int, 16)
		for i := range cap(turn) {
			turn <- i
		}
		statuses := race(t, cap(turn), func(ctx context.Context) (*e2e.Answer, error) {
			i := <-turn
			if i%2 == 0 {
				return alice.Try(ctx, "POST", s+"/rewind", e2e.M{"rewind_before_invocation_id": "inv-2"})
			}
			return alice.Try(ctx, "POST", s+"/events", e2e.M{"events": []e2e.M{event(fmt.Sprint("late-", i), "x")}})
		})
		rewinds := len(slices.DeleteFunc(slices.Clone(statuses), func(s int) bool { return s != 200 }))
		appends := len(slices.DeleteFunc(slices.Clone(statuses), func(s int) bool { return s != 201 }))
		for _, status := range statuses {
			if status != 200 && status != 201 && status != 429 {
				t.Errorf("statuses %v", statuses)
			}
		}
		log := alice.Get(s + "/events?view=all").Want(200)
		for i, seq := range log.Each("data", "seq") {
			if seq != fmt.Sprint(i+1) {
				t.Fatalf("the log has %v", log.Each("data", "seq"))
			}
		}
		if n := len(log.List("data")); n != 4+rewinds+appends {
			t.Errorf("%d entries after %d rewinds and %d appends", n, rewinds, appends)
		}
		if epoch := alice.Get(s).Int("data.epoch"); epoch != int64(rewinds) {
			t.Errorf("epoch %d after %d rewinds", epoch, rewinds)
		}
	})
}

// mustTalk appends turns of two events, inv-1, inv-2 …, each with a task of the
// interaction and a state that counts them.
func mustTalk(t *testing.T, u *e2e.User, session string, turns int) {
	t.Helper()
	for i := 1; i <= turns; i++ {
		invocation, task := fmt.Sprint("inv-", i), fmt.Sprint("task-", i)
		answer := event(invocation, "answer")
		answer["actions"] = e2e.M{"state_delta": e2e.M{"turn": i}}
		mustAppend(t, u, session, event(invocation, "question"), answer)
		b := bubble("m-"+task, "agent", "answer")
		b["metadata"] = e2e.M{"kagent_invocation_id": invocation}
		u.Post(session+"/tasks", e2e.M{"task_id": task, "message_bubbles": []e2e.M{b}}).Want(201)
	}
}

// mustRewind rewinds to before an invocation.
func mustRewind(t *testing.T, u *e2e.User, session, before string, more e2e.M) *e2e.Answer {
	t.Helper()
	body := e2e.M{"rewind_before_invocation_id": before}
	for name, value := range more {
		body[name] = value
	}
	return u.Post(session+"/rewind", body).Want(200)
}

// checkShows compares every view of a session: the invocations of its events (*
// for a generated one), its tasks, their messages and its own state.
func checkShows(t *testing.T, u *e2e.User, session, invocations, tasks, state string) {
	t.Helper()
	got := u.Get(session+"/events").Want(200).Each("data", "invocation_id")
	for i, id := range got {
		if uuid.Validate(id) == nil {
			got[i] = "*"
		}
	}
	if diff := cmp.Diff(invocations, strings.Join(got, " ")); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	shown := u.Get(session+"/tasks").Want(200).Each("tasks", "task_id")
	for i, id := range shown { // a fork's tasks have their own ids
		shown[i], _, _ = strings.Cut(id, ".")
	}
	if diff := cmp.Diff(tasks, strings.Join(shown, " ")); diff != "" {
		t.Errorf("tasks (-want +got)\n%s", diff)
	}
	if n := len(u.Get(session + "/messages").Want(200).List("$")); n != len(shown) {
		t.Errorf("%d messages, want one of each task", n)
	}
	if got := u.Get(session + "/state").Want(200).Raw("data.session"); got != state {
		t.Errorf("state %s, want %s", got, state)
	}
}
