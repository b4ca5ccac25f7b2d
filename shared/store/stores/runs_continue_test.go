package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// continuable is a worker of an agent that allows a number of continuations.
func continuable(worker string, n int) run.Claimant {
	return run.Claimant{Worker: worker, Continuations: func(string) int { return n }}
}

// mustClaim claims a run and returns the reference with which the worker writes.
func mustClaim(t testing.TB, s *stores.Store, ref run.Ref, by run.Claimant) run.Ref {
	t.Helper()
	r, err := s.Runs.Claim(t.Context(), ref, by)
	if err != nil {
		t.Fatalf("claim run %s: %v", ref.RunID, err)
	}
	ref.Continuation = r.Continuations
	return ref
}

// lose starts a run, has a worker say something and lets its lease expire.
func lose(t testing.TB, s *stores.Store, c *calendar, id string, n int) (run.Ref, run.Item) {
	t.Helper()
	mustCreate(t, s, alice, id, nil)
	mustStart(t, s, startOf(t, id, "r", "hi"))
	ref := mustClaim(t, s, refOf(id, "r"), continuable("first", n))
	if _, err := s.Runs.AppendEvents(t.Context(), ref, []session.Event{whole(t, "one")}); err != nil {
		t.Fatal(err)
	}
	it := mustBegin(t, s, ref, "half")
	mustFlush(t, it, "tw", "o")
	c.forward(run.Lease + time.Second)
	return ref, it
}

func TestContinuation(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	s := newStore(t, stores.WithClock(c.now))
	first, it := lose(t, s, c, "s", 2)
	mustAppend(t, s, alice, "s", event(t, "", "r", "by another caller"))

	t.Run("readers leave a run alone that may be continued", func(t *testing.T) {
		wantThread(t, s, "s", "in_progress", "1:hi", "2:one", "3:two (in_progress)", "4:by another caller")
	})
	second := mustClaim(t, s, refOf("s", "r"), continuable("second", 9))
	t.Run("the other worker takes over what was stored", func(t *testing.T) {
		if second.Continuation != 1 {
			t.Errorf("continuation %d, want 1", second.Continuation)
		}
		th := wantThread(t, s, "s", "in_progress", "1:hi", "2:one", "3:two (failed)", "4:by another caller")
		if th.Run == nil || th.Run.Continuations != 1 {
			t.Errorf("the thread's run is %+v", th.Run)
		}
		var problem run.Problem
		if err := json.Unmarshal(th.Items[2].Fields["error"], &problem); err != nil || problem.Code != run.CodeInterrupted {
			t.Errorf("the item's problem is %+v, %v", problem, err)
		}
		h, err := s.Runs.AsOfInput(t.Context(), second, run.HistoryLimit{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"1:hi"}, texts(h.Events)); diff != "" {
			t.Errorf("the history (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"2:one", "3:two"}, texts(h.Said)); diff != "" {
			t.Errorf("what was said (-want +got):\n%s", diff)
		}
	})
	t.Run("the first worker cannot write any more", func(t *testing.T) {
		wantRefused(t, s, first, it)
	})
	t.Run("a claim is refused while the second lives", func(t *testing.T) {
		_, err := s.Runs.Claim(t.Context(), refOf("s", "r"), continuable("third", 2))
		wantKind(t, err, fault.Conflict)
	})
	t.Run("the second worker answers and ends the run", func(t *testing.T) {
		next := mustBegin(t, s, second, "")
		mustFlush(t, next, "three")
		wantRefused(t, s, first, it)
		r := mustEnd(t, s, second, run.Completed, nil)
		if r.Continuations != 1 {
			t.Errorf("ended as %+v", r)
		}
		wantThread(t, s, "s", "idle", "1:hi", "2:one", "3:two (failed)", "4:by another caller", "6:three")
		if got, err := s.Runs.Run(t.Context(), refOf("s", "r")); err != nil || got.Continuations != 1 {
			t.Errorf("read as %+v, %v", got, err)
		}
	})
	t.Run("the next run begins without continuations", func(t *testing.T) {
		mustStart(t, s, startOf(t, "s", "r2", "more"))
		ref := mustClaim(t, s, refOf("s", "r2"), continuable("fourth", 2))
		if _, err := s.Runs.AppendEvents(t.Context(), ref, []session.Event{whole(t, "four")}); err != nil || ref.Continuation != 0 {
			t.Errorf("continuation %d, %v", ref.Continuation, err)
		}
		mustEnd(t, s, ref, run.Completed, nil)
	})
}

// wantRefused checks that a worker's writes have no effect.
func wantRefused(t *testing.T, s *stores.Store, ref run.Ref, it run.Item) {
	t.Helper()
	before := shown(mustThread(t, s, ref.SessionID))
	for name, write := range map[string]func() error{
		"append": func() error {
			_, err := s.Runs.AppendEvents(t.Context(), ref, []session.Event{whole(t, "late")})
			return err
		},
		"begin": func() error {
			_, err := s.Runs.BeginItem(t.Context(), ref, whole(t, "late"))
			return err
		},
		"open": func() error {
			_, err := s.Runs.OpenItem(t.Context(), ref, "half")
			return err
		},
		"flush in the last segment": func() error { return flush(t.Context(), it, "late") },
		"flush in the next segment": func() error {
			return flush(t.Context(), it, strings.Repeat("late", 400))
		},
		"complete": func() error {
			_, err := it.Complete(t.Context(), whole(t, "late"))
			return err
		},
		"complete with a change of state": func() error {
			_, err := it.Complete(t.Context(), stateEvent(t, "r", map[string]any{"late": true}))
			return err
		},
		"renew": func() error { return s.Runs.Renew(t.Context(), ref) },
		"end": func() error {
			_, err := s.Runs.End(t.Context(), ref, run.Failed, run.NewProblem("boom", "late"))
			return err
		},
		"read the history": func() error {
			_, err := s.Runs.AsOfInput(t.Context(), ref, run.HistoryLimit{})
			return err
		},
	} {
		if err := write(); !errors.Is(err, fault.Of(fault.Conflict)) {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
	}
	if diff := cmp.Diff(before, shown(mustThread(t, s, ref.SessionID))); diff != "" {
		t.Errorf("a late write was stored (-before +after):\n%s", diff)
	}
}

func TestContinuation_ends(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	s := newStore(t, stores.WithClock(c.now))
	continued := func(t *testing.T, id string) run.Ref {
		t.Helper()
		ref, _ := lose(t, s, c, id, 1)
		ref.Continuation = 0
		return mustClaim(t, s, ref, continuable("second", 1))
	}
	t.Run("as lost once no continuation is left", func(t *testing.T) {
		continued(t, "once")
		c.forward(run.Lease + time.Second)
		_, err := s.Runs.Claim(t.Context(), refOf("once", "r"), continuable("third", 9))
		wantKind(t, err, fault.Conflict)
		th := wantThread(t, s, "once", "failed", "1:hi", "2:one", "3:two (failed)")
		if th.Run.Error.Code != run.CodeLost || th.Run.Continuations != 1 {
			t.Errorf("the run is %+v", th.Run)
		}
	})
	t.Run("as lost if no worker comes", func(t *testing.T) {
		lose(t, s, c, "alone", 3)
		c.forward(run.ContinuationGrace * run.Lease)
		if th := wantThread(t, s, "alone", "failed", "1:hi", "2:one", "3:two (failed)"); th.Run.Error.Code != run.CodeLost {
			t.Errorf("the run is %+v", th.Run)
		}
	})
	t.Run("by a cancellation", func(t *testing.T) {
		ref := continued(t, "cancel")
		ref.Continuation = 0
		if r, err := s.Runs.Cancel(t.Context(), ref); err != nil || r.Status != run.Cancelled || r.Continuations != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		wantThread(t, s, "cancel", "idle", "1:hi", "2:one", "3:two (failed)")
	})
	t.Run("by a cancellation before another worker comes", func(t *testing.T) {
		ref, it := lose(t, s, c, "early", 1)
		if _, err := s.Runs.Cancel(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, s, ref, it)
		_, err := s.Runs.Claim(t.Context(), ref, continuable("second", 1))
		wantKind(t, err, fault.Conflict)
	})
	t.Run("by a start that replaces it", func(t *testing.T) {
		continued(t, "replace")
		next := startOf(t, "replace", "next", "again")
		next.OnActive = run.CancelAndMerge
		mustStart(t, s, next)
		th := mustThread(t, s, "replace")
		if got := shown(th); len(got) != 3 || !strings.HasSuffix(got[1], ":hi") || !strings.HasSuffix(got[2], ":again") {
			t.Errorf("thread %q", got)
		}
		ref := mustClaim(t, s, refOf("replace", "next"), continuable("third", 1))
		mustEnd(t, s, ref, run.Completed, nil)
	})
	t.Run("by a rewind", func(t *testing.T) {
		continued(t, "rewind")
		_, err := s.History.Rewind(t.Context(), session.Rewind{
			UserID: alice, SessionID: "rewind", Before: "r", CancelRun: true, Nonce: mustID(t),
		})
		if err != nil {
			t.Fatal(err)
		}
		wantThread(t, s, "rewind", "idle")
		mustStart(t, s, startOf(t, "rewind", "next", "again"))
		mustEnd(t, s, refOf("rewind", "next"), run.Completed, nil)
	})
	t.Run("with its session", func(t *testing.T) {
		ref := continued(t, "delete")
		if err := s.Sessions.Delete(t.Context(), alice, "delete"); err != nil {
			t.Fatal(err)
		}
		wantKind(t, s.Runs.Renew(t.Context(), ref), fault.NotFound)
	})
}

// A worker that lives although its lease has expired keeps its run if it renews the
// lease before another worker comes.
func TestContinuation_late_renewal(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	s := newStore(t, stores.WithClock(c.now))
	ref, it := lose(t, s, c, "s", 1)
	if err := s.Runs.Renew(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	_, err := s.Runs.Claim(t.Context(), ref, continuable("second", 1))
	wantKind(t, err, fault.Conflict)
	mustFlush(t, it, "!")
	mustEnd(t, s, ref, run.Completed, nil)
	wantThread(t, s, "s", "idle", "1:hi", "2:one", "3:two!")
}

func TestExpire_continues(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	s := newStore(t, stores.WithClock(c.now))
	lose(t, s, c, "broken", 1)
	ref, _ := lose(t, s, c, "s", 1)
	lose(t, s, c, "never", 0)
	var mu sync.Mutex // several are resumed at the same time
	var resumed []string
	resume := func(_ context.Context, ref run.Ref) error {
		mu.Lock()
		defer mu.Unlock()
		if resumed = append(resumed, ref.SessionID); ref.SessionID == "broken" {
			return errors.New("the runner cannot be reached")
		}
		return nil
	}
	if n, err := s.Runs.Expire(t.Context(), resume); n != 2 || err == nil {
		t.Errorf("expired %d, %v; want 2 and the failure", n, err)
	}
	if len(resumed) != 2 {
		t.Errorf("handed over %q", resumed)
	}
	if got, err := s.Runs.Run(t.Context(), refOf("never", "r")); err != nil || got.Status != run.Failed {
		t.Errorf("a run that may not be continued is %+v, %v", got, err)
	}
	second := mustClaim(t, s, ref, continuable("second", 1))
	resumed = nil
	if n, err := s.Runs.Expire(t.Context(), resume); n != 0 || err == nil || len(resumed) != 1 {
		t.Errorf("expired %d, %v; handed over %q, want only the one that failed", n, err, resumed)
	}
	mustEnd(t, s, second, run.Completed, nil)
}

// The slot of a run that waits to be continued is not another run's.
func TestContinuation_keeps_its_slot(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	s := newStore(t, stores.WithClock(c.now), stores.WithQuotas(quota.Limits{Runs: 1}))
	ref, _ := lose(t, s, c, "s", 1)
	c.forward(run.Lease)
	mustCreate(t, s, alice, "other", nil)
	_, err := s.Runs.Start(t.Context(), startOf(t, "other", "r", "hi"))
	wantKind(t, err, fault.Busy)
	mustEnd(t, s, mustClaim(t, s, ref, continuable("second", 1)), run.Completed, nil)
	mustStart(t, s, startOf(t, "other", "r", "hi"))
}

// untimed returns an archive without the time of its export.
func untimed(doc []byte) string {
	lines := strings.Split(string(doc), "\n")
	return strings.Join(append(lines[:1:1], lines[2:]...), "\n")
}

// The marks of a continuation are gone from the session's item when its run ends, and
// an archive of the session can be imported.
func TestContinuation_leaves_nothing(t *testing.T) {
	t.Parallel()
	c := &calendar{}
	engine := storetest.Engine(t)
	s := stores.New(engine, stores.WithClock(c.now))
	ref, _ := lose(t, s, c, "s", 1)
	second := mustClaim(t, s, ref, continuable("second", 1))
	key := table.NewKey("S#s", "HEAD")
	if storetest.Item(t, engine, key)["rk"] == nil {
		t.Error("the session's item does not say that its run is continued")
	}
	mustEnd(t, s, second, run.Completed, nil)
	if v := storetest.Item(t, engine, key)["rk"]; v != nil {
		t.Errorf("the session's item still has %v", v)
	}
	doc := mustExport(t, s)
	moved := mustMove(t, doc, stores.WithClock(c.now))
	wantThread(t, moved, "s", shown(mustThread(t, s, "s"))...)
	if diff := cmp.Diff(untimed(doc), untimed(mustExport(t, moved))); diff != "" {
		t.Errorf("exported again (-first +second):\n%s", diff)
	}
}
