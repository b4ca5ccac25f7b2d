package stores_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
)

// keepOf is a start in session "s" whose run is kept if it fails or is cancelled; its text is its id.
func keepOf(t testing.TB, runID string) run.Start {
	t.Helper()
	start := startOf(t, "s", runID, runID)
	start.OnFailed = run.Keep
	return start
}

func mustCancelAs(t testing.TB, s *stores.Store, ref run.Ref, on run.OnFailed) run.Run {
	t.Helper()
	r, err := s.Runs.CancelAs(t.Context(), ref, on)
	if err != nil {
		t.Fatalf("cancel run %s: %v", ref.RunID, err)
	}
	return r
}

// wantMark checks that the last event of the thread marks the run as interrupted.
func wantMark(t testing.TB, th run.Thread, runID, code string) {
	t.Helper()
	last := th.Items[len(th.Items)-1]
	var why run.Problem
	if err := json.Unmarshal(last.Fields["error"], &why); err != nil || last.Status != session.EventFailed ||
		last.InvocationID != runID || why.Code != code {
		t.Errorf("the last event is %s, want one of %s with the error %s", last.Own(), runID, code)
	}
}

// What a run that is kept said stays, whoever starts, queues or merges afterwards.
func TestKeep(t *testing.T) {
	t.Parallel()
	failed := run.NewProblem("boom", "it broke")
	ends := map[string]struct {
		on     run.OnFailed // of the start
		end    func(t *testing.T, s *stores.Store, ref run.Ref) run.Run
		status session.Status
		code   string
		kept   bool
	}{
		"failed": {run.Keep, func(t *testing.T, s *stores.Store, ref run.Ref) run.Run {
			t.Helper()
			return mustEnd(t, s, ref, run.Failed, failed)
		}, session.Failed, "boom", true},
		"cancelled": {run.Keep, func(t *testing.T, s *stores.Store, ref run.Ref) run.Run {
			t.Helper()
			return mustCancelAs(t, s, ref, "")
		}, session.Idle, run.CodeCancelled, true},
		"cancelled with keep": {run.Discard, func(t *testing.T, s *stores.Store, ref run.Ref) run.Run {
			t.Helper()
			return mustCancelAs(t, s, ref, run.Keep)
		}, session.Idle, run.CodeCancelled, true},
		"cancelled with discard": {run.Keep, func(t *testing.T, s *stores.Store, ref run.Ref) run.Run {
			t.Helper()
			return mustCancelAs(t, s, ref, run.Discard)
		}, session.Idle, run.CodeCancelled, false},
	}
	said := map[string]struct {
		say  func(t *testing.T, s *stores.Store, ref run.Ref)
		want []string
	}{
		"an item in progress": {func(t *testing.T, s *stores.Store, ref run.Ref) {
			t.Helper()
			mustFlush(t, mustBegin(t, s, ref, ""), "par", "tial")
		}, []string{"partial (failed)"}},
		"a whole event": {func(t *testing.T, s *stores.Store, ref run.Ref) {
			t.Helper()
			if _, err := s.Runs.AppendEvents(t.Context(), ref, []session.Event{whole(t, "whole")}); err != nil {
				t.Fatal(err)
			}
		}, []string{"whole", " (failed)"}},
		"nothing": {func(*testing.T, *stores.Store, run.Ref) {}, []string{" (failed)"}},
	}
	blocking := startOf(t, "s", "two", "two")
	blocking.OnFailed = run.Block
	nexts := map[string]run.Start{
		"a start": startOf(t, "s", "two", "two"), "a merge": mergeOf(t, "s", "two"),
		"a queue": enqueueOf(t, "s", "two"), "one that blocks": blocking,
	}
	tried := 0
	for how, end := range ends {
		for what, output := range said {
			for then, next := range nexts {
				tried++
				t.Run(how+", "+what+", then "+then, func(t *testing.T) {
					s := newStore(t)
					mustCreate(t, s, alice, "s", nil)
					ref := refOf("s", "one")
					start := keepOf(t, "one")
					start.OnFailed = end.on
					mustStart(t, s, start)
					output.say(t, s, ref)
					ended := end.end(t, s, ref)
					th := mustThread(t, s, "s")
					if th.Session.Status != end.status {
						t.Errorf("the session is %s, want %s", th.Session.Status, end.status)
					}
					if got := ended.OnFailed == run.Keep; got != end.kept {
						t.Errorf("the run says that it is kept: %t, want %t", got, end.kept)
					}
					if again, err := s.Runs.Run(t.Context(), ref); err != nil || cmp.Diff(ended, again) != "" {
						t.Errorf("read later, the run is %+v, want %+v (%v)", again, ended, err)
					}
					if end.status == session.Failed && (th.Run == nil || th.Run.Error == nil || th.Run.Error.Code != end.code) {
						t.Errorf("the thread shows the run %+v", th.Run)
					}
					if !end.kept {
						mustStart(t, s, next)
						wantSaid(t, s, "s", "two")
						return
					}
					wantMark(t, th, "one", end.code)
					mustStart(t, s, next)
					wantSaid(t, s, "s", append(append([]string{"one"}, output.want...), "two")...)
					if th := mustThread(t, s, "s"); th.Session.Epoch != 0 {
						t.Errorf("epoch %d, want 0", th.Session.Epoch)
					}
				})
			}
		}
	}
	if want := 4 * 3 * 4; tried != want {
		t.Errorf("%d cases, want %d", tried, want)
	}
}

// A run that is kept stays when it is replaced: its input is not taken over.
func TestKeep_replaced(t *testing.T) {
	t.Parallel()
	for what, want := range map[string][]string{
		"an item in progress": {"one", "partial (failed)", "two", "three", "four"},
		"a whole event":       {"one", "whole", " (failed)", "two", "three", "four"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			mustCreate(t, s, alice, "s", nil)
			mustStart(t, s, keepOf(t, "one"))
			ref := refOf("s", "one")
			if what == "a whole event" {
				if _, err := s.Runs.AppendEvents(t.Context(), ref, []session.Event{whole(t, "whole")}); err != nil {
					t.Fatal(err)
				}
			} else {
				mustFlush(t, mustBegin(t, s, ref, ""), "partial")
			}
			mustEnqueue(t, s, "s", "two")
			merge := mergeOf(t, "s", "three")
			merge.Input[0] = parse(t, map[string]any{
				"invocation_id": "any", "author": "user", "content": map[string]any{"parts": []any{map[string]any{"text": "three"}}},
				"actions": map[string]any{"state_delta": map[string]any{"k": 1, "user:k": 2}},
			})
			for range 2 { // the second is a repeat
				mustStart(t, s, merge)
			}
			wantStatus(t, s, ref, run.Cancelled)
			wantStatus(t, s, refOf("s", "two"), run.Cancelled)
			mustStart(t, s, mergeOf(t, "s", "four"))
			wantSaid(t, s, "s", want...)
			state, err := s.Sessions.State(t.Context(), alice, "s")
			if err != nil || string(state.Merged["k"]) != "1" || string(state.Merged["user:k"]) != "2" {
				t.Errorf("the state is %v (%v)", state.Merged, err)
			}
			for _, e := range mustThread(t, s, "s").Items {
				if kept := e.InvocationID == "one"; kept != (e.Seq <= int64(len(want)-3)) {
					t.Errorf("event %d belongs to %s", e.Seq, e.InvocationID)
				}
			}
		})
	}
}

// The queue goes on after a run that is kept, and its own runs may be kept too.
func TestKeep_queue(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	s := newStore(t, stores.WithClock(func() time.Time { return now }))
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, keepOf(t, "one"))
	mustFlush(t, mustBegin(t, s, refOf("s", "one"), ""), "half")
	for _, id := range []string{"two", "three"} {
		start := keepOf(t, id)
		start.OnActive = run.Enqueue
		mustStart(t, s, start)
	}
	now = now.Add(2 * run.Lease) // its worker is lost
	mustStartQueued(t, s, "two")
	wantSaid(t, s, "s", "one", "half (failed)", "two")
	mustEnd(t, s, refOf("s", "two"), run.Failed, run.NewProblem(run.CodeStart, "no worker"))
	mustStartQueued(t, s, "three")
	wantSaid(t, s, "s", "one", "half (failed)", "two", " (failed)", "three")
}

// An agent's default applies to starts that say nothing.
func TestKeep_by_agent(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.WithOnFailed(func(agent string) run.OnFailed {
		return map[string]run.OnFailed{"keeper": run.Keep, "blocker": run.Block}[agent]
	}))
	mustCreate(t, s, alice, "s", nil)
	say := func(id, agent string, on run.OnFailed) error {
		start := startOf(t, "s", id, id)
		start.Agent, start.OnFailed = agent, on
		_, err := s.Runs.Start(t.Context(), start)
		return err
	}
	fail := func(id string) { mustEnd(t, s, refOf("s", id), run.Failed, run.NewProblem("boom", "it broke")) }
	if err := say("one", "keeper", ""); err != nil {
		t.Fatal(err)
	}
	fail("one")
	if err := say("two", "blocker", ""); err != nil { // nothing is in its way
		t.Fatal(err)
	}
	fail("two")
	if err := say("three", "blocker", ""); !errors.Is(err, fault.Of(fault.Conflict)) {
		t.Errorf("after a failure: %v", err)
	}
	if err := say("four", "keeper", run.Discard); err != nil {
		t.Fatal(err)
	}
	fail("four")
	if err := say("five", "", ""); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, s, "s", "one", " (failed)", "five")
}

// A run that is kept is an invocation like others: it can be rewound, forked,
// exported and searched.
func TestKeep_elsewhere(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, keepOf(t, "one"))
	mustFlush(t, mustBegin(t, s, refOf("s", "one"), ""), "half")
	mustEnd(t, s, refOf("s", "one"), run.Failed, run.NewProblem("boom", "it broke"))
	mustStart(t, s, keepOf(t, "two"))
	mustEnd(t, s, refOf("s", "two"), run.Failed, run.NewProblem("bang", "it broke again"))
	want := []string{"one", "half (failed)", "two", " (failed)"}
	wantSaid(t, s, "s", want...)
	missed := mustCatchUp(t, s, watch.From{})
	if m := missed[len(missed)-1]; m.Status != session.Failed || m.RunID != "two" || m.OnFailed != run.Keep {
		t.Errorf("a watcher is told %+v", m)
	}

	if _, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s", ID: "forked", Nonce: "f"}); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, s, "forked", want...)
	wantMark(t, mustThread(t, s, "forked"), "two", "bang")

	wantFound(t, s, "half", "forked:2", "s:2")
	mustRewind(t, s, "s", "two")
	wantSaid(t, s, "s", want[:2]...)
	wantFound(t, s, "half", "s:2", "forked:2")
	if th := mustThread(t, s, "s"); th.Session.Status != session.Idle || th.Run != nil {
		t.Errorf("after a rewind the session is %s, with %+v", th.Session.Status, th.Run)
	}
	mustRewind(t, s, "s", "one")
	wantThread(t, s, "s", "idle")
	wantFound(t, s, "half", "forked:2")
}
