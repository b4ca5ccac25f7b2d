package stores_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

func save(sessionID, id, bubbles string, invocations ...string) task.Save {
	return task.Save{SessionID: sessionID, UserID: alice, Invocations: invocations, Task: task.Task{
		ID: id, Bubbles: json.RawMessage(bubbles),
		UserMessage: json.RawMessage(`"hi <b>"`), Metadata: json.RawMessage(`{"status":"pending"}`),
	}}
}

func mustSave(t testing.TB, s *stores.Store, sessionID, id, bubbles string, invocations ...string) bool {
	t.Helper()
	_, created, err := s.Tasks.Save(t.Context(), save(sessionID, id, bubbles, invocations...))
	if err != nil {
		t.Fatalf("save task %s: %v", id, err)
	}
	return created
}

func taskIDs(t testing.TB, s *stores.Store, sessionID string, limit int) []string {
	t.Helper()
	q := task.Query{SessionID: sessionID, UserID: alice, Limit: limit}
	ids := []string{}
	for {
		page, err := s.Tasks.Tasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range page.Tasks {
			ids = append(ids, got.ID)
		}
		if page.Next == "" {
			return ids
		}
		q.After = page.Next
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	s := newStore(t)

	t.Run("creates, then updates, and keeps members that were not sent", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "upsert", nil)
		if !mustSave(t, s, "upsert", "t1", `[{"id":"m1","type":"user","n":1.0}]`) {
			t.Error("the first save did not create")
		}
		again := save("upsert", "t1", `[{"id":"m1","type":"user"},{"id":"m2","type":"agent","text":"<&>"}]`)
		again.Task.UserMessage, again.Task.Metadata = nil, json.RawMessage(`null`)
		if _, created, err := s.Tasks.Save(t.Context(), again); err != nil || created {
			t.Fatalf("the second save: created %v, %v", created, err)
		}
		got, err := s.Tasks.Task(t.Context(), alice, "upsert", "t1")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`"hi <b>"`, string(again.Task.Bubbles), "null"}
		if diff := cmp.Diff(want, []string{string(got.UserMessage), string(got.Bubbles), string(got.Metadata)}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got.CreatedTime > got.UpdatedTime {
			t.Errorf("created %d, updated %d", got.CreatedTime, got.UpdatedTime)
		}
	})

	t.Run("racing first saves create once", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "race", nil)
		var created atomic.Int32
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if mustSave(t, s, "race", "t1", fmt.Sprintf(`[{"id":"m%d","type":"user"}]`, n)) {
					created.Add(1)
				}
			})
		}
		wg.Wait()
		if created.Load() != 1 {
			t.Errorf("%d saves created the task", created.Load())
		}
		if diff := cmp.Diff([]string{"t1"}, taskIDs(t, s, "race", 0)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("a task larger than an item is read back", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "large", nil)
		var b strings.Builder
		for range 40_000 {
			b.WriteString(mustID(t))
		}
		for n := range 2 { // the second replaces the chunks of the first
			bubbles := fmt.Sprintf(`[{"id":"m%d","type":"user","text":%q}]`, n, b.String())
			mustSave(t, s, "large", "t1", bubbles)
			got, err := s.Tasks.Task(t.Context(), alice, "large", "t1")
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bubbles) != bubbles {
				t.Error("the bubbles changed")
			}
		}
	})
}

// Tasks have the order of the log: the position of the first invocation they name,
// or of their own entry.
func TestTasks_order(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "order", nil)
	mustSave(t, s, "order", "z-first", `[{"id":"m","type":"user"}]`)
	mustAppend(t, s, alice, "order", event(t, "", "inv-1", "a"))
	mustAppend(t, s, alice, "order", event(t, "", "inv-2", "b"))
	mustSave(t, s, "order", "of-2", `[{"id":"m","type":"agent"}]`, "inv-2")
	mustSave(t, s, "order", "of-1", `[{"id":"m","type":"agent"}]`, "inv-1")
	mustSave(t, s, "order", "a-last", `[{"id":"m","type":"user"}]`)
	for _, limit := range []int{0, 1, 3} {
		if diff := cmp.Diff([]string{"z-first", "of-1", "of-2", "a-last"}, taskIDs(t, s, "order", limit)); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
	// Its answer names an invocation: the task moves to that one's position.
	mustSave(t, s, "order", "z-first", `[{"id":"m","type":"agent"}]`, "inv-2")
	if diff := cmp.Diff([]string{"of-1", "of-2", "z-first", "a-last"}, taskIDs(t, s, "order", 0)); diff != "" {
		t.Errorf("after the move (-want +got):\n%s", diff)
	}

	all := mustEvents(t, s, alice, "order", session.EventQuery{View: session.All})
	effective := mustEvents(t, s, alice, "order", session.EventQuery{})
	if len(all) != 4 || len(effective) != 2 {
		t.Errorf("%d entries in all, %d effective; want 4 and 2", len(all), len(effective))
	}
	if all[0].TaskID != "z-first" || all[0].InvocationID != "z-first" {
		t.Errorf("the first entry places %q of invocation %q", all[0].TaskID, all[0].InvocationID)
	}
}

func TestDeleteTask(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustSave(t, s, "s", "t1", `[{"id":"m","type":"user"}]`)
	mustSave(t, s, "s", "t2", `[{"id":"m","type":"user"}]`)
	if err := s.Tasks.DeleteTask(t.Context(), alice, "s", "t1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Tasks.DeleteTask(t.Context(), alice, "s", "t1"); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("delete again: %v", err)
	}
	if diff := cmp.Diff([]string{"t2"}, taskIDs(t, s, "s", 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !mustSave(t, s, "s", "t1", `[{"id":"m","type":"user"}]`) {
		t.Error("a deleted task was updated")
	}
	if diff := cmp.Diff([]string{"t1", "t2"}, taskIDs(t, s, "s", 0)); diff != "" {
		t.Errorf("the log position stays (-want +got):\n%s", diff)
	}
}

func TestFeedback(t *testing.T) {
	t.Parallel()
	clock := &calendar{}
	s := newStore(t, stores.WithClock(clock.now))
	mustCreate(t, s, alice, "old", nil)
	mustCreate(t, s, alice, "new", nil)
	mustSave(t, s, "old", "t1", `[{"id":"m","type":"user"}]`)
	clock.forward(time.Second)
	mustSave(t, s, "new", "t1", `[{"id":"m","type":"user"}]`)

	found, err := s.Feedback.FindTask(t.Context(), alice, "t1")
	if err != nil || found != "new" {
		t.Errorf("found the task in %q, %v; want the newest", found, err)
	}
	if _, err := s.Feedback.FindTask(t.Context(), bob, "t1"); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("another user's task: %v", err)
	}
	f := feedback("new", "t1", "f1")
	f.Text = "<nice>"
	for _, step := range []func() error{
		func() error { return s.Feedback.AddFeedback(t.Context(), f) },
		func() error { // sent again, a little later
			again := f
			again.CreatedTime++
			return s.Feedback.AddFeedback(t.Context(), again)
		},
		func() error { return s.Feedback.MarkTask(t.Context(), f) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Tasks.Task(t.Context(), alice, "new", "t1")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"feedback":{"submitted":true,"text":"<nice>","type":"up"},"status":"pending"}`
	if string(got.Metadata) != want {
		t.Errorf("metadata %s", got.Metadata)
	}
	page, err := s.Feedback.ListFeedback(t.Context(), task.FeedbackQuery{UserID: alice, SessionID: "new", Type: "up", Limit: 10})
	if err != nil || len(page.Feedback) != 1 || page.Feedback[0].Text != "<nice>" {
		t.Errorf("feedback %+v, %v", page, err)
	}
	page, err = s.Feedback.ListFeedback(t.Context(), task.FeedbackQuery{UserID: alice, Type: "down", Limit: 10})
	if err != nil || len(page.Feedback) != 0 {
		t.Errorf("other feedback %+v, %v", page, err)
	}
}

// An item may name a marker that its session's log does not have, from a version that
// took markers of the log that the session was forked from: tasks are listed all the same.
func TestTasks_with_a_marker_of_another_log(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	mustCreate(t, s, alice, "s", nil)
	mustSave(t, s, "s", "t1", `[]`)
	pk := "L#" + fixture.Log(t, s, "s")
	spoilt := 0
	for _, item := range storetest.Partition(t, engine, pk, "T#") {
		storetest.Spoil(t, engine, table.NewKey(pk, storetest.Text(t, item, table.SK)), table.Set(table.Path{"mk"}, 99))
		spoilt++
	}
	page, err := s.Tasks.Tasks(t.Context(), task.Query{SessionID: "s", UserID: alice, Limit: 10})
	if err != nil || len(page.Tasks) != 1 || spoilt == 0 {
		t.Errorf("%d tasks, %v; %d items were spoilt", len(page.Tasks), err, spoilt)
	}
}
