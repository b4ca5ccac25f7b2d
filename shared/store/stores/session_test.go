package stores_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	s := newStore(t)

	t.Run("concurrent creations with one id create one session", func(t *testing.T) {
		t.Parallel()
		for _, state := range []session.Delta{nil, {"k": []byte("1"), "user:k": []byte("1")}} {
			var made, refused atomic.Int32
			var wg sync.WaitGroup
			id := fmt.Sprintf("same-%d", len(state))
			for n := range 8 {
				wg.Go(func() {
					want := session.New{ID: id, UserID: alice, State: state, Nonce: fmt.Sprint(n)}
					if err := want.Validate(); err != nil {
						t.Error(err)
					}
					switch _, err := s.Sessions.Create(t.Context(), want); {
					case err == nil:
						made.Add(1)
					case errors.Is(err, fault.Of(fault.Conflict)):
						refused.Add(1)
					default:
						t.Errorf("create: %v", err)
					}
				})
			}
			wg.Wait()
			if made.Load() != 1 || refused.Load() != 7 {
				t.Errorf("%d created, %d refused", made.Load(), refused.Load())
			}
		}
	})

	t.Run("initial state is the first event", func(t *testing.T) {
		t.Parallel()
		got := mustCreate(t, s, alice, "initial", session.Delta{"k": []byte("1")})
		if got.HeadSeq != 1 {
			t.Errorf("head_seq %d, want 1", got.HeadSeq)
		}
		events := mustEvents(t, s, alice, "initial", session.EventQuery{})
		if len(events) != 1 || string(events[0].StateDelta["k"]) != "1" {
			t.Errorf("events %+v", events)
		}
	})

	t.Run("a lost answer causes no conflict", func(t *testing.T) {
		t.Parallel()
		s := losing(t, 0.4)
		for n := range 10 {
			mustCreate(t, s, alice, fmt.Sprint(n), nil)
			mustCreate(t, s, alice, fmt.Sprint("state-", n), session.Delta{"app:k": []byte("1")})
		}
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	was := mustCreate(t, s, alice, "patched", nil)
	name := "a name"
	now, err := s.Sessions.Update(t.Context(), alice, "patched", session.Patch{Name: &name, IfMatch: &was.Version})
	if err != nil {
		t.Fatal(err)
	}
	if now.Name != name || now.Version == was.Version || now.UpdatedTime < was.UpdatedTime {
		t.Errorf("after the update: %+v", now)
	}
	if _, err := s.Sessions.Update(t.Context(), alice, "patched", session.Patch{Name: &name, IfMatch: &was.Version}); !errors.Is(err, fault.Of(fault.Precondition)) {
		t.Errorf("an old version: %v", err)
	}
	if _, err := s.Sessions.Update(t.Context(), bob, "patched", session.Patch{Name: &name}); !errors.Is(err, fault.Of(fault.Forbidden)) {
		t.Errorf("another user: %v", err)
	}
	got, err := s.Sessions.Get(t.Context(), alice, "patched")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(now, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// clock returns a later millisecond every time it is read.
func clock() func() time.Time {
	var now atomic.Int64
	now.Store(time.Now().UnixMilli())
	return func() time.Time { return time.UnixMilli(now.Add(1)) }
}

func list(t *testing.T, s *stores.Store, q session.ListQuery) []string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 2
	}
	ids := []string{}
	last := int64(1 << 62)
	for {
		page, err := s.Sessions.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range page.Sessions {
			if got.UpdatedTime > last {
				t.Errorf("%s is newer than the one before it", got.ID)
			}
			last = got.UpdatedTime
			ids = append(ids, got.ID)
		}
		if page.Next == "" {
			return ids
		}
		q.After = page.Next
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.WithClock(clock()))
	for _, id := range []string{"a", "b", "c", "d"} {
		n := session.New{ID: id, UserID: alice, Agent: "agent-" + id, Name: "Talk about " + id, Nonce: id}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sessions.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	mustCreate(t, s, bob, "his", nil)
	check := func(name string, q session.ListQuery, want ...string) {
		t.Helper()
		q.UserID = alice
		for _, q.Exact = range []bool{false, true} {
			if diff := cmp.Diff(append([]string{}, want...), list(t, s, q)); diff != "" {
				t.Errorf("%s, exact %v (-want +got):\n%s", name, q.Exact, diff)
			}
		}
	}
	check("newest first", session.ListQuery{}, "d", "c", "b", "a")
	mustAppend(t, s, alice, "b", event(t, "", "i", "x"))
	check("an append moves a session up", session.ListQuery{}, "b", "d", "c", "a")
	mustAppend(t, s, alice, "b", event(t, "", "i", "y"))
	mustAppend(t, s, alice, "a", event(t, "", "i", "y"))
	check("appends to the top session, then to another", session.ListQuery{}, "a", "b", "d", "c")
	mustSave(t, s, "c", "t1", `[{"id":"m","type":"user"}]`)
	check("a saved task is activity too", session.ListQuery{}, "c", "a", "b", "d")
	check("by agent", session.ListQuery{Agent: "agent-b"}, "b")
	check("by status", session.ListQuery{Status: session.Failed})
	check("by name", session.ListQuery{Text: "ABOUT D"}, "d")
}

// A deleted session leaves nothing, however appends race with the deletion, and a
// new session with its id starts empty.
func TestDelete(t *testing.T) {
	t.Parallel()
	now := time.Now()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	later := stores.New(engine, stores.WithClock(func() time.Time {
		return now.Add(sweep.Grace + time.Hour)
	}))
	for round := range 5 {
		mustCreate(t, s, alice, "doomed", session.Delta{"k": []byte("1")})
		for n := range 30 {
			mustAppend(t, s, alice, "doomed", event(t, fmt.Sprint(n), fmt.Sprint("i", n), "x"))
		}
		mustSave(t, s, "doomed", "t1", `[{"id":"m","type":"user"}]`)
		if err := s.Feedback.AddFeedback(t.Context(), feedback("doomed", "t1", fmt.Sprint("f", round))); err != nil {
			t.Fatal(err)
		}
		raceDelete(t, s)
		mustCreate(t, s, alice, "doomed", nil)
		if got := mustEvents(t, s, alice, "doomed", session.EventQuery{View: session.All}); len(got) != 0 {
			t.Errorf("round %d: a new session begins with %d events", round, len(got))
		}
		if _, err := s.Tasks.Task(t.Context(), alice, "doomed", "t1"); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("round %d: the task of the old session: %v", round, err)
		}
		if err := s.Sessions.Delete(t.Context(), alice, "doomed"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sessions.Delete(t.Context(), alice, "doomed"); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("delete again: %v", err)
	}
	if _, err := later.Lifecycle.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := keysIn(t, engine); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// raceDelete deletes the session while writers append to it.
func raceDelete(t *testing.T, s *stores.Store) {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				_, _, err := s.Sessions.Append(t.Context(), session.Append{
					SessionID: "doomed", UserID: alice, Events: []session.Event{event(t, "", "i", "late")},
				})
				if errors.Is(err, fault.Of(fault.NotFound)) {
					return
				}
				if err != nil && !errors.Is(err, fault.Of(fault.Busy)) { // on a slow machine
					t.Errorf("append while deleting: %v", err)
					return
				}
			}
		})
	}
	if err := s.Sessions.Delete(t.Context(), alice, "doomed"); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// keysIn are the keys of all items.
func keysIn(t *testing.T, engine table.Engine) []string {
	t.Helper()
	var keys []string
	for _, item := range storetest.Items(t, engine) {
		keys = append(keys, storetest.Text(t, item, table.PK)+" "+storetest.Text(t, item, table.SK))
	}
	return keys
}

func feedback(sessionID, taskID, id string) task.Feedback {
	return task.Feedback{
		ID: id, UserID: alice, TaskID: taskID, SessionID: sessionID, Type: "up", CreatedTime: time.Now().UnixMilli(),
	}
}
