package stores_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// enqueueOf is a start that waits while a run is active; its text is its id.
func enqueueOf(t testing.TB, sessionID, runID string) run.Start {
	t.Helper()
	start := startOf(t, sessionID, runID, runID)
	start.OnActive = run.Enqueue
	return start
}

func mustEnqueue(t testing.TB, s *stores.Store, sessionID string, runIDs ...string) {
	t.Helper()
	for _, id := range runIDs {
		if r := mustStart(t, s, enqueueOf(t, sessionID, id)); r.Status != run.Waiting || r.ID != id {
			t.Fatalf("the run is %+v, want that it waits", r)
		}
	}
}

// mustStartQueued begins the next queued run of session "s", "" for none.
func mustStartQueued(t testing.TB, s *stores.Store, want string) {
	t.Helper()
	r, err := s.Runs.StartQueued(t.Context(), alice, "s")
	if err != nil {
		t.Fatalf("start what is queued: %v", err)
	}
	got := ""
	if r != nil {
		got = r.ID
	}
	if got != want {
		t.Fatalf("run %q is to be handed over, want %q", got, want)
	}
}

func wantQueued(t testing.TB, s *stores.Store, sessionID string, want ...string) {
	t.Helper()
	got := []string{}
	for _, one := range mustThread(t, s, sessionID).Queue.Starts {
		got = append(got, one.RunID)
	}
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("queued in %s (-want +got):\n%s", sessionID, diff)
	}
}

func wantStatus(t testing.TB, s *stores.Store, ref run.Ref, want run.Status) {
	t.Helper()
	r, err := s.Runs.Run(t.Context(), ref)
	if err != nil {
		t.Errorf("read run %s: %v", ref.RunID, err)
	} else if r.Status != want {
		t.Errorf("run %s is %s, want %s", ref.RunID, r.Status, want)
	}
}

// busy returns a store with a session "s" whose run "one" is active.
func busy(t *testing.T, opts ...stores.Option) *stores.Store {
	t.Helper()
	s := newStore(t, opts...)
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, startOf(t, "s", "one", "one"))
	return s
}

func TestEnqueue(t *testing.T) {
	t.Parallel()
	s := busy(t)
	mustEnqueue(t, s, "s", "two", "three")
	wantQueued(t, s, "s", "two", "three")
	wantSaid(t, s, "s", "one")
	wantStatus(t, s, refOf("s", "two"), run.Waiting)
	mustStartQueued(t, s, "") // a run is active
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	mustStartQueued(t, s, "two")
	mustStartQueued(t, s, "two") // nobody has claimed it
	wantQueued(t, s, "s", "three")
	wantSaid(t, s, "s", "one", "two")
	wantStatus(t, s, refOf("s", "two"), run.InProgress)
	mustStart(t, s, enqueueOf(t, "s", "two")) // a repeat
	if _, err := s.Runs.Claim(t.Context(), refOf("s", "two"), run.Claimant{Worker: "w"}); err != nil {
		t.Fatal(err)
	}
	mustStartQueued(t, s, "")
	mustEnd(t, s, refOf("s", "two"), run.Completed, nil)
	mustStartQueued(t, s, "three")
	mustEnd(t, s, refOf("s", "three"), run.Completed, nil)
	mustStartQueued(t, s, "")
	for _, id := range []string{"one", "two", "three"} { // repeats
		if r := mustStart(t, s, enqueueOf(t, "s", id)); r.Status != run.Completed {
			t.Errorf("run %s is %s", id, r.Status)
		}
	}
	wantSaid(t, s, "s", "one", "two", "three")
	if r := mustStart(t, s, enqueueOf(t, "s", "four")); r.Status != run.InProgress {
		t.Errorf("in an idle session the run is %s", r.Status)
	}
}

func TestEnqueue_repeated(t *testing.T) {
	t.Parallel()
	s := busy(t)
	mustEnqueue(t, s, "s", "two", "two", "three", "two")
	wantQueued(t, s, "s", "two", "three")
	if _, err := s.Runs.Cancel(t.Context(), refOf("s", "two")); err != nil {
		t.Fatal(err)
	}
	if r := mustStart(t, s, enqueueOf(t, "s", "two")); r.Status != run.Cancelled {
		t.Errorf("the repeat of a cancelled start is %s", r.Status)
	}
	mustStart(t, s, mergeOf(t, "s", "four"))
	if r := mustStart(t, s, enqueueOf(t, "s", "three")); r.Status != run.Cancelled {
		t.Errorf("the repeat of a merged start is %s", r.Status)
	}
	wantSaid(t, s, "s", "one", "three", "four")
}

func TestEnqueue_limits(t *testing.T) {
	t.Parallel()
	s := busy(t)
	for i := range run.MaxQueued {
		mustEnqueue(t, s, "s", fmt.Sprint("q", i))
	}
	_, err := s.Runs.Start(t.Context(), enqueueOf(t, "s", "more"))
	wantKind(t, err, fault.Conflict)
	var f *fault.Error
	if errors.As(err, &f); f.Extra["run_id"] != "one" || f.Extra["max_queued"] != run.MaxQueued {
		t.Errorf("the fault has %v", f.Extra)
	}
	mustCreate(t, s, alice, "large", nil)
	mustStart(t, s, startOf(t, "large", "one", "one"))
	big := enqueueOf(t, "large", "big")
	big.Input = []session.Event{event(t, "", "big", strings.Repeat("x", run.MaxQueuedBytes))}
	_, err = s.Runs.Start(t.Context(), big)
	wantKind(t, err, fault.Conflict)
	wantQueued(t, s, "large")
}

// While queued runs are about to begin, other starts go behind them or merge them.
func TestEnqueue_and_others(t *testing.T) {
	t.Parallel()
	s := busy(t)
	mustEnqueue(t, s, "s", "two", "three")
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	_, err := s.Runs.Start(t.Context(), startOf(t, "s", "rejected", "rejected"))
	var f *fault.Error
	if wantKind(t, err, fault.Conflict); errors.As(err, &f) && f.Extra["run_id"] != "two" {
		t.Errorf("the fault has %v", f.Extra)
	}
	mustEnqueue(t, s, "s", "four")
	_, err = s.History.Rewind(t.Context(), session.Rewind{UserID: alice, SessionID: "s", Before: "one", Nonce: "n"})
	if wantKind(t, err, fault.Conflict); errors.As(err, &f) && f.Extra["run_id"] != "two" {
		t.Errorf("the fault has %v", f.Extra)
	}
	if r := mustStart(t, s, mergeOf(t, "s", "five")); r.Status != run.InProgress {
		t.Errorf("the run is %s", r.Status)
	}
	wantSaid(t, s, "s", "one", "two", "three", "four", "five")
	wantQueued(t, s, "s")
	mustEnqueue(t, s, "s", "six")
	mustStart(t, s, mergeOf(t, "s", "seven"))
	wantSaid(t, s, "s", "one", "two", "three", "four", "five", "six", "seven")
	for _, id := range []string{"two", "three", "four", "five", "six"} {
		wantStatus(t, s, refOf("s", id), run.Cancelled)
	}
	// A merge that would be too large changes nothing.
	for i := range run.MaxQueued {
		start := enqueueOf(t, "s", fmt.Sprint("q", i))
		start.Input = slices.Repeat(start.Input, run.MaxMerged/run.MaxQueued)
		mustStart(t, s, start)
	}
	before := mustThread(t, s, "s")
	_, err = s.Runs.Start(t.Context(), mergeOf(t, "s", "more"))
	wantKind(t, err, fault.Conflict)
	if diff := cmp.Diff(before, mustThread(t, s, "s")); diff != "" {
		t.Errorf("the refusal changed the thread (-before +after):\n%s", diff)
	}
}

func TestEnqueue_behind_a_failure(t *testing.T) {
	t.Parallel()
	blocked := func(t *testing.T) *stores.Store {
		t.Helper()
		s := busy(t)
		for _, id := range []string{"two", "three"} {
			start := enqueueOf(t, "s", id)
			start.OnFailed = run.Block
			mustStart(t, s, start)
		}
		mustEnd(t, s, refOf("s", "one"), run.Failed, run.NewProblem("boom", "it broke"))
		mustStartQueued(t, s, "")
		wantThread(t, s, "s", "failed", "1:one")
		return s
	}
	t.Run("a queued start discards a failed run", func(t *testing.T) {
		t.Parallel()
		s := busy(t)
		mustEnqueue(t, s, "s", "two")
		mustEnd(t, s, refOf("s", "one"), run.Failed, run.NewProblem("boom", "it broke"))
		mustStartQueued(t, s, "two")
		wantSaid(t, s, "s", "two")
	})
	t.Run("a queued start discards a cancelled run", func(t *testing.T) {
		t.Parallel()
		s := busy(t)
		mustEnqueue(t, s, "s", "two")
		if _, err := s.Runs.Cancel(t.Context(), refOf("s", "one")); err != nil {
			t.Fatal(err)
		}
		mustStartQueued(t, s, "two")
		wantSaid(t, s, "s", "two")
	})
	t.Run("a rewind resolves the failure", func(t *testing.T) {
		t.Parallel()
		s := blocked(t)
		mustRewind(t, s, "s", "one")
		mustStartQueued(t, s, "two")
		wantSaid(t, s, "s", "two")
		wantQueued(t, s, "s", "three")
	})
	t.Run("another start discards the failed run and goes first", func(t *testing.T) {
		t.Parallel()
		s := blocked(t)
		mustStart(t, s, startOf(t, "s", "four", "four"))
		wantQueued(t, s, "s", "two", "three")
		mustEnd(t, s, refOf("s", "four"), run.Completed, nil)
		mustStartQueued(t, s, "two")
		wantSaid(t, s, "s", "four", "two")
	})
	t.Run("an enqueued start goes behind them", func(t *testing.T) {
		t.Parallel()
		s := blocked(t)
		mustEnqueue(t, s, "s", "four")
		wantQueued(t, s, "s", "two", "three", "four")
		mustStartQueued(t, s, "")
		for _, id := range []string{"two", "three"} {
			if _, err := s.Runs.Cancel(t.Context(), refOf("s", id)); err != nil {
				t.Fatal(err)
			}
		}
		mustStartQueued(t, s, "four") // it discards what failed
		wantSaid(t, s, "s", "four")
	})
}

func TestEnqueue_cancel(t *testing.T) {
	t.Parallel()
	s := busy(t)
	mustEnqueue(t, s, "s", "two", "three")
	for range 2 {
		r, err := s.Runs.Cancel(t.Context(), refOf("s", "two"))
		if err != nil || r.Status != run.Cancelled || r.EndedTime == nil {
			t.Errorf("cancelled: %+v, %v", r, err)
		}
	}
	_, err := s.Runs.Cancel(t.Context(), refOf("s", "unknown"))
	wantKind(t, err, fault.NotFound)
	wantStatus(t, s, refOf("s", "two"), run.Cancelled)
	wantStatus(t, s, refOf("s", "one"), run.InProgress)
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	mustStartQueued(t, s, "three")
	wantSaid(t, s, "s", "one", "three")
}
