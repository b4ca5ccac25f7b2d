package stores_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

const remark = "only I say so"

// judge gives feedback as a guest of alice's and marks the task with it.
func judge(t *testing.T, s *stores.Store, user, kind string) {
	t.Helper()
	f := task.Feedback{
		ID: "f-" + user, UserID: user, OwnerID: alice, SessionID: "s", TaskID: "t", Type: kind, Text: remark,
		CreatedTime: time.Now().UnixMilli(),
	}
	if err := errors.Join(s.Feedback.AddFeedback(t.Context(), f), s.Feedback.MarkTask(t.Context(), f)); err != nil {
		t.Fatal(err)
	}
}

func metadataOf(t *testing.T, s *stores.Store) string {
	t.Helper()
	got, err := s.Tasks.Task(t.Context(), alice, "s", "t")
	if err != nil {
		t.Fatal(err)
	}
	return string(got.Metadata)
}

// mustBeErased erases bob, and sweeps until that is done.
func mustBeErased(t *testing.T, s *stores.Store) {
	t.Helper()
	for range 20 {
		if report, err := s.Lifecycle.Erase(t.Context(), bob); err == nil && report.Status == erasure.Complete {
			return
		}
	}
	t.Fatal("the erasure did not end")
}

func saveJudged(t *testing.T, s *stores.Store, metadata string) error {
	t.Helper()
	_, _, err := s.Tasks.Save(t.Context(), task.Save{SessionID: "s", UserID: alice, Task: task.Task{
		ID: "t", Bubbles: []byte(`[{"id":"b","type":"user","text":"x"}]`), Metadata: []byte(metadata),
	}})
	return err
}

// An erased guest's feedback is removed from the owner's task and from forks, and
// does not return with a task that the owner's client had read before.
func TestErasure_of_feedback(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	if err := saveJudged(t, s, `{"own":1}`); err != nil {
		t.Fatal(err)
	}
	fixture.Share(t, s, access.NewShare{ID: "share", SessionID: "s", Right: access.Write, UserID: bob})
	judge(t, s, bob, task.Down)
	mustFork(t, s, "s", "before", nil)
	read := metadataOf(t, s)
	if !strings.Contains(read, remark) {
		t.Fatalf("the task is not marked: %s", read)
	}
	mustBeErased(t, s)
	mustBeErased(t, s)
	if got := metadataOf(t, s); got != `{"own":1}` {
		t.Errorf("metadata %s", got)
	}
	page, err := s.Tasks.Tasks(t.Context(), task.Query{SessionID: "before", UserID: alice})
	if err != nil || len(page.Tasks) != 1 || strings.Contains(string(page.Tasks[0].Metadata), remark) {
		t.Errorf("the fork shows %+v, %v", page.Tasks, err)
	}
	if err := saveJudged(t, s, read); err != nil {
		t.Fatal(err)
	}
	if got := metadataOf(t, s); got != `{"own":1}` {
		t.Errorf("a page that had read it saved %s", got)
	}
	judge(t, s, "carol", task.Down)
	if got := metadataOf(t, s); !strings.Contains(got, remark) {
		t.Errorf("another user cannot give the same feedback: %s", got)
	}
	mustBeErased(t, s)
	if got := metadataOf(t, s); !strings.Contains(got, remark) {
		t.Errorf("another user's feedback is gone: %s", got)
	}
}

// An erasure that is interrupted anywhere is completed by a repeat.
func TestErasure_of_feedback_cut_short(t *testing.T) {
	t.Parallel()
	cuts := 0
	for n, whole := int64(1), false; !whole; n++ {
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		if err := saveJudged(t, s, `{"own":1}`); err != nil {
			t.Fatal(err)
		}
		judge(t, s, bob, task.Up)
		cut := cutAfter(engine, n)
		report, err := cut.Lifecycle.Erase(t.Context(), bob)
		whole = err == nil && report.Status == erasure.Complete
		cuts++
		mustBeErased(t, s)
		if got := metadataOf(t, s); got != `{"own":1}` {
			t.Errorf("interrupted after %d requests: metadata %s", n, got)
		}
		if page, err := s.Feedback.ListFeedback(t.Context(), task.FeedbackQuery{UserID: bob, Limit: 10}); err != nil || len(page.Feedback) != 0 {
			t.Errorf("interrupted after %d requests: feedback %+v, %v", n, page, err)
		}
	}
	t.Logf("%d interruptions", cuts)
	if cuts < 10 {
		t.Errorf("only %d interruptions", cuts)
	}
}

// The task may be saved concurrently.
func TestErasure_of_feedback_while_the_task_is_saved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	if err := saveJudged(t, s, `{"own":1}`); err != nil {
		t.Fatal(err)
	}
	judge(t, s, bob, task.Up)
	read := metadataOf(t, s)
	done := make(chan error)
	go func() {
		var failed error
		for range 10 {
			if err := saveJudged(t, s, read); err != nil && !errors.Is(err, fault.Of(fault.Busy)) {
				failed = errors.Join(failed, err)
			}
		}
		done <- failed
	}()
	mustBeErased(t, s)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := metadataOf(t, s); got != `{"own":1}` {
		t.Errorf("metadata %s", got)
	}
}
