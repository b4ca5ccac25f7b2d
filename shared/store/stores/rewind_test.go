package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

func mustRewind(t testing.TB, s *stores.Store, id, before string) session.Rewound {
	t.Helper()
	out, err := s.History.Rewind(t.Context(), session.Rewind{SessionID: id, UserID: alice, Before: before, Nonce: uuid.NewString()})
	if err != nil {
		t.Fatalf("rewind %s before %s: %v", id, before, err)
	}
	return out
}

func mustFork(t testing.TB, s *stores.Store, id, fork string, before *string) session.Session {
	t.Helper()
	return fixture.Fork(t, s, id, fork, before)
}

// chat is a session of turns 1 to n, each of two events, the second of which
// counts the turn in the state.
func chat(t testing.TB, s *stores.Store, id string, turns int) {
	t.Helper()
	mustCreate(t, s, alice, id, session.Delta{"start": []byte(`"here"`)})
	for n := range turns {
		turn(t, s, id, n+1)
	}
}

func turn(t testing.TB, s *stores.Store, id string, n int) {
	t.Helper()
	inv := fmt.Sprintf("inv-%d", n)
	mustAppend(t, s, alice, id, event(t, "", inv, fmt.Sprintf("q%d", n)))
	mustAppend(t, s, alice, id, stateEvent(t, inv, map[string]any{"turn": n, "user:last": n}))
}

func TestRewind(t *testing.T) {
	t.Parallel()

	t.Run("restores the shown events and the state", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "plain", 3)
		out := mustRewind(t, s, "plain", "inv-2")
		if out.Session.Epoch != 1 || out.Event.Seq != 8 || len(out.Conflicts) != 0 {
			t.Errorf("rewound: %+v", out)
		}
		want := []string{"1:", "2:q1", "3:"}
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "plain", session.EventQuery{}))); diff != "" {
			t.Errorf("effective (-want +got):\n%s", diff)
		}
		if got := len(mustEvents(t, s, alice, "plain", session.EventQuery{View: session.All})); got != 8 {
			t.Errorf("%d entries in all, want 8", got)
		}
		if diff := cmp.Diff(`{"start":"here","turn":1,"user:last":1}`, merged(t, s, alice, "plain")); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		turn(t, s, "plain", 4)
		want = append(want, "9:q4", "10:")
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "plain", session.EventQuery{}))); diff != "" {
			t.Errorf("going on (-want +got):\n%s", diff)
		}
	})

	t.Run("an invocation that was rewound before brings back what preceded it", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "hidden", 3)
		first := mustRewind(t, s, "hidden", "inv-2")
		turn(t, s, "hidden", 4)
		mustRewind(t, s, "hidden", "inv-3")
		want := []string{"1:", "2:q1", "3:", "4:q2", "5:"}
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "hidden", session.EventQuery{}))); diff != "" {
			t.Errorf("effective (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(`{"start":"here","turn":2,"user:last":2}`, merged(t, s, alice, "hidden")); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		// Before the first marker's own id: that rewind is undone.
		mustRewind(t, s, "hidden", first.Event.InvocationID)
		want = append(want, "6:q3", "7:")
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "hidden", session.EventQuery{}))); diff != "" {
			t.Errorf("undone (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(`{"start":"here","turn":3,"user:last":3}`, merged(t, s, alice, "hidden")); diff != "" {
			t.Errorf("state undone (-want +got):\n%s", diff)
		}
	})

	t.Run("a shared key that another session changed since is kept", func(t *testing.T) {
		t.Parallel()
		for _, restore := range []bool{false, true} {
			id := fmt.Sprintf("mine-%v", restore)
			s := newStore(t)
			chat(t, s, id, 2)
			mustCreate(t, s, alice, "theirs", nil)
			mustAppend(t, s, alice, "theirs", stateEvent(t, "x", map[string]any{"user:last": "theirs"}))
			out, err := s.History.Rewind(t.Context(), session.Rewind{
				SessionID: id, UserID: alice, Before: "inv-1", Restore: restore, Nonce: uuid.NewString(),
			})
			if err != nil {
				t.Fatal(err)
			}
			want, conflicts := `{"start":"here","user:last":"theirs"}`, []session.Conflict{{Key: "user:last", Reason: session.ChangedSince}}
			if restore {
				want, conflicts = `{"start":"here"}`, nil
			}
			if diff := cmp.Diff(want, merged(t, s, alice, id)); diff != "" {
				t.Errorf("restore %v (-want +got):\n%s", restore, diff)
			}
			if diff := cmp.Diff(conflicts, out.Conflicts); diff != "" {
				t.Errorf("conflicts, restore %v (-want +got):\n%s", restore, diff)
			}
		}
	})

	t.Run("a dry run changes nothing, an unknown invocation is not there", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "dry", 2)
		before := texts(mustEvents(t, s, alice, "dry", session.EventQuery{View: session.All}))
		out, err := s.History.Rewind(t.Context(), session.Rewind{
			SessionID: "dry", UserID: alice, Before: "inv-1", DryRun: true, Nonce: uuid.NewString(),
		})
		if err != nil || string(out.State["turn"]) != "null" {
			t.Errorf("dry run: %+v, %v", out, err)
		}
		_, err = s.History.Rewind(t.Context(), session.Rewind{SessionID: "dry", UserID: alice, Before: "none", Nonce: "n"})
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("unknown invocation: %v", err)
		}
		after := texts(mustEvents(t, s, alice, "dry", session.EventQuery{View: session.All}))
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("a cursor from before a rewind is refused", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "cursor", 3)
		page, err := s.Sessions.Events(t.Context(), alice, "cursor", session.EventQuery{View: session.Effective, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		mustRewind(t, s, "cursor", "inv-3")
		_, err = s.Sessions.Events(t.Context(), alice, "cursor", session.EventQuery{
			View: session.Effective, Limit: 2, Resume: *page.Next,
		})
		if !errors.Is(err, fault.Of(fault.Conflict)) {
			t.Errorf("an old cursor: %v", err)
		}
	})
}

func TestFork(t *testing.T) {
	t.Parallel()

	t.Run("shows what a copy would", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "src", 3)
		before := "inv-3"
		got := mustFork(t, s, "src", "copy", &before)
		if got.HeadSeq != 5 || got.Name != "Fork of src" || !got.Fork.BoundaryFound {
			t.Errorf("fork: %+v", got)
		}
		want := []string{"1:", "2:q1", "3:", "4:q2", "5:"}
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "copy", session.EventQuery{}))); diff != "" {
			t.Errorf("effective (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(`{"start":"here","turn":2,"user:last":3}`, merged(t, s, alice, "copy")); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		turn(t, s, "copy", 9)
		turn(t, s, "src", 4)
		mustRewind(t, s, "copy", "inv-1")
		if diff := cmp.Diff([]string{"1:"}, texts(mustEvents(t, s, alice, "copy", session.EventQuery{}))); diff != "" {
			t.Errorf("rewound fork (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(`{"start":"here","user:last":4}`, merged(t, s, alice, "copy")); diff != "" {
			t.Errorf("state of the rewound fork (-want +got):\n%s", diff)
		}
	})

	t.Run("keeps the initial state, even before the event that carries it", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		chat(t, s, "new", 0)
		first := mustEvents(t, s, alice, "new", session.EventQuery{})[0].InvocationID
		mustFork(t, s, "new", "copy", &first)
		mustRewind(t, s, "new", first)
		for _, id := range []string{"new", "copy"} {
			if got := merged(t, s, alice, id); got != `{"start":"here"}` {
				t.Errorf("the state of %s is %s", id, got)
			}
		}
	})

	t.Run("outlives its parent, and the last reader frees the log", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "parent", 2)
		mustSave(t, s, "parent", "t1", `[{"id":"m","type":"user"}]`, "inv-1")
		mustFork(t, s, "parent", "son", nil)
		before := "inv-2"
		mustFork(t, s, "son", "grandson", &before)
		for _, id := range []string{"parent", "son"} {
			if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"1:", "2:q1", "3:"}
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "grandson", session.EventQuery{}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := taskIDs(t, s, "grandson", 0); len(got) != 1 {
			t.Errorf("tasks %v", got)
		}
		tree, err := s.History.Forks(t.Context(), session.TreeQuery{UserID: alice, SessionID: "grandson"})
		if err != nil || tree.Root.ID != "parent" || !tree.Root.Deleted || tree.Root.Children[0].Children[0].ID != "grandson" {
			t.Errorf("tree %+v, %v", tree, err)
		}
	})

	t.Run("tasks are its own", func(t *testing.T) {
		t.Parallel()
		s := newStore(t) // shared state is shared by all sessions in a table
		chat(t, s, "tasks", 2)
		mustSave(t, s, "tasks", "t1", `[{"id":"old","type":"user"}]`, "inv-1")
		mustSave(t, s, "tasks", "t2", `[{"id":"old","type":"user"}]`, "inv-2")
		mustFork(t, s, "tasks", "fork", nil)
		mustSave(t, s, "tasks", "t1", `[{"id":"new","type":"user"}]`, "inv-1") // the source goes on
		ids := taskIDs(t, s, "fork", 1)
		if len(ids) != 2 || ids[0] == "t1" {
			t.Fatalf("tasks of the fork: %v", ids)
		}
		got, err := s.Tasks.Task(t.Context(), alice, "fork", ids[0])
		if err != nil || string(got.Bubbles) != `[{"id":"old","type":"user"}]` {
			t.Errorf("task of the fork: %s, %v", got.Bubbles, err)
		}
		mustSave(t, s, "fork", ids[0], `[{"id":"mine","type":"user"}]`, "inv-1")
		if err := s.Tasks.DeleteTask(t.Context(), alice, "fork", ids[1]); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ids[:1], taskIDs(t, s, "fork", 0)); diff != "" {
			t.Errorf("after a deletion (-want +got):\n%s", diff)
		}
		if got := taskIDs(t, s, "tasks", 0); len(got) != 2 {
			t.Errorf("tasks of the source: %v", got)
		}
	})
}

func TestRewind_of_an_expected_head(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustAppend(t, s, alice, "s", event(t, "", "i0", "before"))
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	r := session.Rewind{UserID: alice, SessionID: "s", Before: "r1", Nonce: mustID(t), CancelRun: true}
	for _, other := range []int64{0, 1, 3} {
		r.ExpectedSeq = &other
		_, err := s.History.Rewind(t.Context(), r)
		wantKind(t, err, fault.Conflict)
	}
	wantThread(t, s, "s", "in_progress", "1:before", "2:go")

	r.ExpectedSeq = new(int64(2))
	out, err := s.History.Rewind(t.Context(), r)
	if err != nil || out.Event.Seq != 4 { // after the end of the run
		t.Fatalf("%+v, %v", out, err)
	}
	wantThread(t, s, "s", "idle", "1:before")
	again, err := s.History.Rewind(t.Context(), r) // its answer was lost
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.Event, again.Event); diff != "" {
		t.Errorf("(-first +again)\n%s", diff)
	}
}

// A rewind that cancels the active run does both or neither, wherever it is
// interrupted: the run continues, or it has ended and its events are hidden.
func TestRewind_that_cancels_is_one_step(t *testing.T) {
	t.Parallel()
	const least = 8
	engine := storetest.Engine(t)
	whole := stores.New(engine)
	earlier, later := 0, 0
	for cut, ended := 1, false; !ended; cut++ {
		id := fmt.Sprint("s", cut)
		mustCreate(t, whole, alice, id, nil)
		mustAppend(t, whole, alice, id, event(t, "", "i0", "before"))
		mustStart(t, whole, startOf(t, id, "r1", "go"))
		mustFlush(t, mustBegin(t, whole, refOf(id, "r1"), ""), "a")
		var requests atomic.Int64
		s := before(engine, func(context.Context, hooks.Call) error {
			if int(requests.Add(1)) >= cut {
				return errCut
			}
			return nil
		})
		r := session.Rewind{UserID: alice, SessionID: id, Before: "r1", Nonce: mustID(t), CancelRun: true}
		out, err := s.History.Rewind(t.Context(), r)
		ended = int(requests.Load()) < cut
		if ended && (err != nil || out.Session.ActiveRunID != nil || out.Session.Status != session.Idle) {
			t.Fatalf("%+v, %v", out, err)
		}
		got, err2 := whole.Runs.Run(t.Context(), refOf(id, "r1"))
		if err2 != nil {
			t.Fatal(err2)
		}
		if got.Status == run.InProgress {
			earlier++
			wantThread(t, whole, id, "in_progress", "1:before", "2:go", "3:a (in_progress)")
			if err == nil {
				t.Error("it was told that it is done")
			}
		} else {
			later++
			wantThread(t, whole, id, "idle", "1:before")
			if got.Status != run.Cancelled {
				t.Errorf("the run is %s", got.Status)
			}
		}
		if _, err := whole.History.Rewind(t.Context(), r); err != nil { // again
			t.Fatal(err)
		}
		wantThread(t, whole, id, "idle", "1:before")
		if all := mustEvents(t, whole, alice, id, session.EventQuery{View: session.All}); len(all) != 5 {
			t.Errorf("request %d: %d events in the log", cut, len(all))
		}
	}
	t.Logf("%d rewinds cut short before they took effect, %d after", earlier, later)
	if earlier+later < least || later == 0 {
		t.Errorf("%d and %d are too few", earlier, later)
	}
}

// A rewind over many changes of state reads them by pages.
func TestRewind_over_many_changes(t *testing.T) {
	t.Parallel()
	for _, between := range []int{0, 3, 12} {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		mustCreate(t, s, alice, "s", session.Delta{"k": json.RawMessage("0")})
		const changes = 60
		for n := range changes {
			mustAppend(t, s, alice, "s", parse(t, map[string]any{
				"invocation_id": "all", "author": "agent", "actions": map[string]any{"state_delta": map[string]any{"k": n + 1, fmt.Sprint(n): n}},
			}))
			for range between {
				mustAppend(t, s, alice, "s", event(t, "", "all", "between"))
			}
		}
		before := meter.Total()
		if _, err := s.History.Rewind(t.Context(), session.Rewind{SessionID: "s", UserID: alice, Before: "all", Nonce: "n"}); err != nil {
			t.Fatal(err)
		}
		if u := meter.Total().Sub(before); u.Requests > 20 {
			t.Errorf("%d entries between changes: %d requests for %d changes, want at most 20", between, u.Requests, changes)
		}
		state, err := s.Sessions.State(t.Context(), alice, "s")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(state.Session); got != "map[k:[48]]" {
			t.Errorf("the state is %s, want that of before", got)
		}
	}
}
