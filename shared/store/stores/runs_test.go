package stores_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

func refOf(sessionID, runID string) run.Ref {
	return run.Ref{UserID: alice, SessionID: sessionID, RunID: runID}
}

func startOf(t testing.TB, sessionID, runID, text string) run.Start {
	t.Helper()
	return run.Start{
		Ref: refOf(sessionID, runID), Mode: run.Managed, Input: []session.Event{event(t, "", "ignored", text)},
		OnActive: run.Reject, OnFailed: run.Discard,
	}
}

func mustStart(t testing.TB, s *stores.Store, start run.Start) run.Run {
	t.Helper()
	r, err := s.Runs.Start(t.Context(), start)
	if err != nil {
		t.Fatalf("start run %s: %v", start.RunID, err)
	}
	return r
}

func mustBegin(t testing.TB, s *stores.Store, ref run.Ref, id string) run.Item {
	t.Helper()
	begun := map[string]any{
		"invocation_id": ref.RunID, "author": "agent", "content": map[string]any{"role": "model"},
	}
	if id != "" {
		begun["id"] = id
	}
	it, err := s.Runs.BeginItem(t.Context(), ref, parse(t, begun))
	if err != nil {
		t.Fatalf("begin item %s: %v", id, err)
	}
	return it
}

func flush(ctx context.Context, it run.Item, text string) error {
	_, err := it.Flush(ctx, []content.Delta{{Text: text}})
	return err
}

func mustFlush(t testing.TB, it run.Item, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := flush(t.Context(), it, text); err != nil {
			t.Fatalf("flush %q: %v", text, err)
		}
	}
}

func mustEnd(t testing.TB, s *stores.Store, ref run.Ref, status run.Status, problem *run.Problem) run.Run {
	t.Helper()
	r, err := s.Runs.End(t.Context(), ref, status, problem)
	if err != nil {
		t.Fatalf("end run %s: %v", ref.RunID, err)
	}
	return r
}

func mustThread(t testing.TB, s *stores.Store, id string) run.Thread {
	t.Helper()
	th, err := s.Runs.Thread(t.Context(), alice, id, run.ThreadQuery{Limit: session.DefaultPage})
	if err != nil {
		t.Fatalf("read the thread of %s: %v", id, err)
	}
	return th
}

// shown is a thread in short: status, then items with seq, status and text.
func shown(th run.Thread) []string {
	out := []string{string(th.Session.Status)}
	for i, text := range texts(th.Items) {
		if th.Items[i].Status != session.EventCompleted {
			text += " (" + string(th.Items[i].Status) + ")"
		}
		out = append(out, text)
	}
	return out
}

func wantThread(t testing.TB, s *stores.Store, id string, want ...string) run.Thread {
	t.Helper()
	th := mustThread(t, s, id)
	if diff := cmp.Diff(want, shown(th)); diff != "" {
		t.Errorf("thread of %s (-want +got):\n%s", id, diff)
	}
	return th
}

func wantKind(t testing.TB, err error, kind fault.Kind) {
	t.Helper()
	fixture.WantKind(t, err, kind)
}

func whole(t testing.TB, text string) session.Event {
	t.Helper()
	return parse(t, map[string]any{
		"invocation_id": "any", "author": "agent",
		"content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": text}}},
	})
}

func TestRuns(t *testing.T) {
	s := newStore(t)
	t.Run("streams an answer into the thread", func(t *testing.T) {
		mustCreate(t, s, alice, "s1", nil)
		ref := refOf("s1", "r1")
		started := mustStart(t, s, startOf(t, "s1", "r1", "hello"))
		if started.Status != run.InProgress || started.ID != "r1" {
			t.Errorf("started %+v", started)
		}
		th := wantThread(t, s, "s1", "in_progress", "1:hello")
		if th.Run == nil || th.Run.ID != "r1" || *th.Session.ActiveRunID != "r1" {
			t.Errorf("the active run is not shown: %+v", th)
		}
		it := mustBegin(t, s, ref, "")
		mustFlush(t, it, "Hi", " there")
		th = wantThread(t, s, "s1", "in_progress", "1:hello", "2:Hi there (in_progress)")
		if th.Seq != 2 || th.Offset != 2 {
			t.Errorf("the cursor is %d.%d, want 2.2", th.Seq, th.Offset)
		}
		done, err := it.Complete(t.Context(), whole(t, "Hi there!"))
		if err != nil || done.ID != it.ID() || done.Seq != 2 {
			t.Fatalf("complete: %+v, %v", done, err)
		}
		ended := mustEnd(t, s, ref, run.Completed, nil)
		if ended.EndedTime == nil || ended.Status != run.Completed {
			t.Errorf("ended %+v", ended)
		}
		wantThread(t, s, "s1", "idle", "1:hello", "2:Hi there!")
		got, err := s.Runs.Run(t.Context(), ref)
		if diff := cmp.Diff(ended, got); err != nil || diff != "" {
			t.Errorf("the run read later: %v (-want +got):\n%s", err, diff)
		}
		all := mustEvents(t, s, alice, "s1", session.EventQuery{View: session.All})
		if last := all[len(all)-1]; string(last.Fields["type"]) != `"run"` || last.Seq != 3 {
			t.Errorf("the log does not have the end: %s", last.Own())
		}
	})
	t.Run("a second run waits for the first", func(t *testing.T) {
		mustCreate(t, s, alice, "s2", nil)
		mustStart(t, s, startOf(t, "s2", "r1", "one"))
		_, err := s.Runs.Start(t.Context(), startOf(t, "s2", "r2", "two"))
		wantKind(t, err, fault.Conflict)
		again := mustStart(t, s, startOf(t, "s2", "r1", "one"))
		if again.ID != "r1" {
			t.Errorf("the same start again gives %+v", again)
		}
		wantThread(t, s, "s2", "in_progress", "1:one")
	})
	t.Run("a failed run is kept until the next input discards it", func(t *testing.T) {
		mustCreate(t, s, alice, "s3", nil)
		mustStart(t, s, startOf(t, "s3", "r1", "one"))
		mustFlush(t, mustBegin(t, s, refOf("s3", "r1"), ""), "par", "tial")
		mustEnd(t, s, refOf("s3", "r1"), run.Failed, run.NewProblem("boom", "it broke"))
		th := wantThread(t, s, "s3", "failed", "1:one", "2:partial (failed)")
		if th.Run == nil || th.Run.Error == nil || th.Run.Error.Code != "boom" {
			t.Errorf("the failed run is not shown: %+v", th.Run)
		}
		if got := string(th.Items[1].Fields["error"]); !strings.Contains(got, "it broke") {
			t.Errorf("the item's error is %s", got)
		}
		blocked := startOf(t, "s3", "r2", "two")
		blocked.OnFailed = run.Block
		_, err := s.Runs.Start(t.Context(), blocked)
		wantKind(t, err, fault.Conflict)
		mustStart(t, s, startOf(t, "s3", "r2", "two"))
		th = wantThread(t, s, "s3", "in_progress", "5:two")
		if th.Session.Epoch != 1 {
			t.Errorf("epoch %d, want 1", th.Session.Epoch)
		}
	})
	t.Run("a replaced run's input is taken over", func(t *testing.T) {
		mustCreate(t, s, alice, "s4", nil)
		mustStart(t, s, startOf(t, "s4", "r1", "one"))
		mustFlush(t, mustBegin(t, s, refOf("s4", "r1"), ""), "answer to one")
		merge := startOf(t, "s4", "r2", "two")
		merge.OnActive = run.CancelAndMerge
		mustStart(t, s, merge)
		wantThread(t, s, "s4", "in_progress", "5:one", "6:two")
		for _, e := range mustThread(t, s, "s4").Items {
			if e.InvocationID != "r2" {
				t.Errorf("input belongs to %s", e.InvocationID)
			}
		}
	})
	t.Run("cancel may be repeated and frees the session", func(t *testing.T) {
		mustCreate(t, s, alice, "s5", nil)
		mustStart(t, s, startOf(t, "s5", "r1", "one"))
		mustFlush(t, mustBegin(t, s, refOf("s5", "r1"), ""), "some")
		for range 2 {
			r, err := s.Runs.Cancel(t.Context(), refOf("s5", "r1"))
			if err != nil || r.Status != run.Cancelled {
				t.Fatalf("cancel: %+v, %v", r, err)
			}
		}
		wantThread(t, s, "s5", "idle", "1:one", "2:some (failed)")
		mustStart(t, s, startOf(t, "s5", "r2", "two"))
		wantThread(t, s, "s5", "in_progress", "5:two")
	})
}

func TestRuns_final_runs_refuse_writes(t *testing.T) {
	s := newStore(t)
	ends := map[string]func(t *testing.T, ref run.Ref){
		"cancelled": func(t *testing.T, ref run.Ref) {
			t.Helper()
			if _, err := s.Runs.Cancel(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		},
		"failed":    func(t *testing.T, ref run.Ref) { t.Helper(); mustEnd(t, s, ref, run.Failed, run.NewProblem("x", "y")) },
		"completed": func(t *testing.T, ref run.Ref) { t.Helper(); mustEnd(t, s, ref, run.Completed, nil) },
		"replaced": func(t *testing.T, ref run.Ref) {
			t.Helper()
			next := startOf(t, ref.SessionID, "next", "next")
			next.OnActive = run.CancelAndMerge
			mustStart(t, s, next)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			id := "over-" + name
			mustCreate(t, s, alice, id, nil)
			ref := refOf(id, "r1")
			mustStart(t, s, startOf(t, id, "r1", "one"))
			it := mustBegin(t, s, ref, "")
			mustFlush(t, it, strings.Repeat("a", 500), strings.Repeat("b", 300))
			end(t, ref)
			before := mustThread(t, s, id)
			for _, text := range []string{"late", strings.Repeat("c", 900)} { // in the last segment, and after it
				wantKind(t, flush(t.Context(), it, text), fault.Conflict)
			}
			_, err := it.Complete(t.Context(), whole(t, "late"))
			wantKind(t, err, fault.Conflict)
			_, err = s.Runs.AppendEvents(t.Context(), ref, []session.Event{whole(t, "late")})
			wantKind(t, err, fault.Conflict)
			_, err = s.Runs.BeginItem(t.Context(), ref, whole(t, "late"))
			wantKind(t, err, fault.Conflict)
			wantKind(t, s.Runs.Renew(t.Context(), ref), fault.Conflict)
			_, err = s.Runs.Claim(t.Context(), ref, run.Claimant{Worker: "w"})
			wantKind(t, err, fault.Conflict)
			if diff := cmp.Diff(shown(before), shown(mustThread(t, s, id))); diff != "" {
				t.Errorf("a late write was stored (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRuns_lease(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	s := newStore(t, stores.WithClock(func() time.Time { return now }))
	start := func(id string) run.Ref {
		mustCreate(t, s, alice, id, nil)
		mustStart(t, s, startOf(t, id, "r1", "one"))
		if _, err := s.Runs.Claim(t.Context(), refOf(id, "r1"), run.Claimant{Worker: "worker"}); err != nil {
			t.Fatal(err)
		}
		mustFlush(t, mustBegin(t, s, refOf(id, "r1"), ""), "partial")
		return refOf(id, "r1")
	}
	read, swept, lives := start("read"), start("swept"), start("lives")
	_, err := s.Runs.Claim(t.Context(), read, run.Claimant{Worker: "another"})
	wantKind(t, err, fault.Conflict)
	now = now.Add(run.Lease - time.Second)
	if err := s.Runs.Renew(t.Context(), lives); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	t.Run("the next reader ends it as failed", func(t *testing.T) {
		th := wantThread(t, s, "read", "failed", "1:one", "2:partial (failed)")
		if th.Run.Error.Code != run.CodeLost {
			t.Errorf("error %+v", th.Run.Error)
		}
	})
	t.Run("the sweeper ends it", func(t *testing.T) {
		if n, err := s.Runs.Expire(t.Context(), nil); n != 1 || err != nil {
			t.Fatalf("expired %d, %v", n, err)
		}
		got, err := s.Runs.Run(t.Context(), swept)
		if err != nil || got.Status != run.Failed {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("a renewed run stays active", func(t *testing.T) {
		wantThread(t, s, "lives", "in_progress", "1:one", "2:partial (in_progress)")
	})
	wantKind(t, s.Runs.Renew(t.Context(), swept), fault.Conflict)
}

func TestRuns_racing(t *testing.T) {
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	won := make(chan string, 8)
	done := make(chan error, 8)
	for i := range 8 {
		id := string(rune('a' + i))
		go func() {
			_, err := s.Runs.Start(t.Context(), startOf(t, "s", id, id))
			if err == nil {
				won <- id
			} else if errors.Is(err, fault.Of(fault.Conflict)) {
				err = nil
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	close(won)
	winners := slices.Collect(func(yield func(string) bool) {
		for id := range won {
			if !yield(id) {
				return
			}
		}
	})
	if len(winners) != 1 {
		t.Fatalf("%v started concurrently", winners)
	}
	wantThread(t, s, "s", "in_progress", "1:"+winners[0])
}
