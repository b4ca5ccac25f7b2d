package stores_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// mergeOf is a start that cancels the active run and takes over its input.
func mergeOf(t testing.TB, sessionID, runID string) run.Start {
	t.Helper()
	start := startOf(t, sessionID, runID, runID)
	start.OnActive = run.CancelAndMerge
	return start
}

// wantSaid checks the texts of the thread, whatever their positions.
func wantSaid(t testing.TB, s *stores.Store, id string, want ...string) {
	t.Helper()
	got := []string{}
	for _, text := range shown(mustThread(t, s, id))[1:] {
		_, said, _ := strings.Cut(text, ":")
		got = append(got, said)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the thread of %s (-want +got):\n%s", id, diff)
	}
}

// Input that a run took over stays pending until a worker has claimed the run;
// everything else behaves as without merging.
func TestStart_after_a_merge(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	s := newStore(t, stores.WithClock(func() time.Time { return now }))
	fail := func(code string) func(t *testing.T, ref run.Ref) {
		return func(t *testing.T, ref run.Ref) {
			t.Helper()
			mustEnd(t, s, ref, run.Failed, run.NewProblem(code, "it failed"))
		}
	}
	claim := func(t *testing.T, ref run.Ref) {
		t.Helper()
		if _, err := s.Runs.Claim(t.Context(), ref, run.Claimant{Worker: "w"}); err != nil {
			t.Fatal(err)
		}
	}
	rewind := func(before string) func(t *testing.T, ref run.Ref) {
		return func(t *testing.T, ref run.Ref) { t.Helper(); mustRewind(t, s, ref.SessionID, before) }
	}
	cases := []struct {
		name string
		do   []func(t *testing.T, ref run.Ref)
		want []string
	}{
		{"no worker could be started", []func(*testing.T, run.Ref){fail(run.CodeStart)}, []string{"one", "next"}},
		{"no worker came", []func(*testing.T, run.Ref){func(*testing.T, run.Ref) { now = now.Add(2 * run.Lease) }}, []string{"one", "next"}},
		{"a worker claimed it and failed", []func(*testing.T, run.Ref){claim, fail(run.CodeAgent)}, []string{"next"}},
		{"a worker claimed it, and its start failed", []func(*testing.T, run.Ref){claim, fail(run.CodeStart)}, []string{"one", "next"}},
		{"a worker claimed it and was lost", []func(*testing.T, run.Ref){claim, func(*testing.T, run.Ref) { now = now.Add(2 * run.Lease) }}, []string{"next"}},
		{"it was cancelled", []func(*testing.T, run.Ref){func(t *testing.T, ref run.Ref) {
			t.Helper()
			if _, err := s.Runs.Cancel(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		}}, []string{"next"}},
		{"a rewind removed it", []func(*testing.T, run.Ref){fail(run.CodeStart), rewind("two")}, []string{"next"}},
		{"a rewind left it", []func(*testing.T, run.Ref){fail(run.CodeStart), func(t *testing.T, ref run.Ref) {
			t.Helper()
			mustAppend(t, s, alice, ref.SessionID, event(t, "", "later", "later"))
		}, rewind("later")}, []string{"one", "two", "next"}},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) { // they share the clock
			id := fmt.Sprint("s", i)
			mustCreate(t, s, alice, id, nil)
			mustStart(t, s, startOf(t, id, "one", "one"))
			mustStart(t, s, mergeOf(t, id, "two"))
			for _, do := range c.do {
				do(t, refOf(id, "two"))
			}
			mustStart(t, s, startOf(t, id, "next", "next"))
			wantSaid(t, s, id, c.want...)
		})
	}
	t.Run("pending input is taken over until a worker claims it", func(t *testing.T) {
		mustCreate(t, s, alice, "owed", nil)
		mustStart(t, s, startOf(t, "owed", "one", "one"))
		for i := range 3 {
			id := fmt.Sprint("try", i)
			mustStart(t, s, mergeOf(t, "owed", id))
			fail(run.CodeStart)(t, refOf("owed", id))
			wantSaid(t, s, "owed", "one", id)
		}
		mustFork(t, s, "owed", "fork", nil)
		mustStart(t, s, startOf(t, "owed", "next", "next"))
		wantSaid(t, s, "owed", "one", "next")
		mustStart(t, s, startOf(t, "fork", "next", "next"))
		wantSaid(t, s, "fork", "one", "try2", "next") // a fork has it as history
		if err := s.Sessions.Delete(t.Context(), alice, "owed"); err != nil {
			t.Fatal(err)
		}
		_, err := s.Runs.Start(t.Context(), mergeOf(t, "owed", "late"))
		wantKind(t, err, fault.NotFound)
	})
}

// A start that another one merged is final, and repeating it neither starts nor
// stops a run.
func TestStart_again_after_it_was_merged(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	for _, id := range []string{"one", "two", "three"} {
		mustStart(t, s, mergeOf(t, "s", id))
	}
	for range 2 {
		if r := mustStart(t, s, mergeOf(t, "s", "two")); r.Status != run.Cancelled {
			t.Errorf("the run is %s", r.Status)
		}
	}
	wantSaid(t, s, "s", "one", "two", "three")
	if th := mustThread(t, s, "s"); *th.Session.ActiveRunID != "three" {
		t.Errorf("the active run is %s", *th.Session.ActiveRunID)
	}
}

// A refused merge leaves the run that it would have cancelled active.
func TestStart_refused_merge(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, s *stores.Store, start run.Start, kind fault.Kind, used int) {
		t.Helper()
		before := shown(mustThread(t, s, "s"))
		_, err := s.Runs.Start(t.Context(), start)
		wantKind(t, err, kind)
		if diff := cmp.Diff(before, shown(mustThread(t, s, "s"))); diff != "" || before[0] != string(session.InProgress) {
			t.Errorf("the refusal changed the thread (-before +after):\n%s", diff)
		}
		if used > 0 {
			mustUse(t, s, 1, int64(used))
		}
	}
	t.Run("too much state", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Runs: 1})
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "one", "one"))
		start := mergeOf(t, "s", "two")
		start.Input = []session.Event{stateEvent(t, "two", map[string]any{"k": strings.Repeat("x", session.MaxState)})}
		refused(t, s, start, fault.TooLarge, 1)
	})
	t.Run("too many bytes", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Bytes: 1})
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "one", "one"))
		mustPut(t, s, alice, "s", "a", letters(t, 5<<10))
		refused(t, s, mergeOf(t, "s", "two"), fault.Busy, 0)
	})
	t.Run("too much input", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		mustCreate(t, s, alice, "s", nil)
		for i := range run.MaxMerged {
			mustStart(t, s, mergeOf(t, "s", fmt.Sprint("r", i)))
		}
		refused(t, s, mergeOf(t, "s", "more"), fault.Conflict, 0)
	})
}
