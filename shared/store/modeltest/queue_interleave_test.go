package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// later is the id of a run that is queued before the acts.
const later = "later"

func enqueuing() act {
	return act{name: "a start that waits", runs: anyone, do: func(ctx context.Context, s *stores.Store, who string) error {
		if who == first {
			who = later
		}
		start := merged(who)
		start.OnActive = lifecycle.Enqueue
		_, err := s.Runs.Start(ctx, start)
		return err
	}}
}

// saidBy is a start with a text of its own.
func saidBy(name string, active lifecycle.OnActive) act {
	return act{name: name, runs: anyone, do: func(ctx context.Context, s *stores.Store, who string) error {
		start := merged(who)
		start.OnActive = active
		_, err := s.Runs.Start(ctx, start)
		return err
	}}
}

func startingQueued() act {
	return act{name: "a start of what is queued", do: func(ctx context.Context, s *stores.Store, _ string) error {
		_, err := s.Runs.StartQueued(ctx, runner, "s")
		return err
	}}
}

func cancellingQueued() act {
	return act{name: "a cancellation of what is queued", do: func(ctx context.Context, s *stores.Store, _ string) error {
		_, err := s.Runs.Cancel(ctx, refTo(later))
		return err
	}}
}

func failingQueued() act {
	return act{name: "the failure of what was queued", do: func(ctx context.Context, s *stores.Store, _ string) error {
		_, err := s.Runs.End(ctx, refTo(later), lifecycle.Failed, lifecycle.NewProblem(lifecycle.CodeAgent, "it failed"))
		return err
	}}
}

// TestInterleavings_queue runs one operation on a session during another, before each of
// its requests, while inputs are queued. Afterwards the queue runs until it is empty:
// each accepted input is in the thread once, unless it was cancelled or discarded.
func TestInterleavings_queue(t *testing.T) {
	t.Parallel()
	start := starting("start", anyone, lifecycle.Reject, lifecycle.Discard)
	acts := []act{
		enqueuing(), startingQueued(), cancellingQueued(), cancelling(), ending(lifecycle.Completed), ending(lifecycle.Failed),
		saidBy("a start", lifecycle.Reject), saidBy("a start that merges", lifecycle.CancelAndMerge),
		appending("two"), appending(later), beginning(), rewinding(first), deleting(),
	}
	var sets []set
	for _, b := range []before{
		{"a run at work", []act{start}},
		{"a run at work and a queued one", []act{start, enqueuing()}},
		{"a queued run that is about to start", []act{start, enqueuing(), ending(lifecycle.Completed)}},
		{"a queued run after one that failed", []act{start, beginning(), enqueuing(), ending(lifecycle.Failed)}},
		{"a run that failed, to which was appended while it was queued", []act{
			start, enqueuing(), appending(later), appending("two"), ending(lifecycle.Completed), startingQueued(), failingQueued(),
		}},
	} {
		st := newStage(t)
		s := limited(st.engine)
		if _, err := s.Sessions.Create(t.Context(), session.New{ID: "s", UserID: runner, AppName: "app", Nonce: "s"}); err != nil {
			t.Fatal(err)
		}
		for _, a := range append([]act{appending("one")}, b.prepare...) {
			if err := a.do(t.Context(), s, first); err != nil {
				t.Fatalf("%s: %s: %v", b.name, a.name, err)
			}
		}
		st.keep()
		for _, outer := range acts {
			for _, inner := range acts {
				what := fmt.Sprintf("%s: %s in the midst of %s", b.name, inner.name, outer.name)
				sets = append(sets, set{of: b.name + ", " + outer.name, first: 2, play: func(t *testing.T, at int) bool {
					t.Helper()
					own := st.fresh(t)
					if !meet(t, what, own, outer, inner, at) {
						return false
					}
					drains(t, fmt.Sprintf("%s, before its request %d", what, at), own)
					return true
				}})
			}
		}
	}
	number{all: 4000, few: 200, every: 20}.play(t, sets)
}

// drains runs the queue until it is empty.
func drains(t *testing.T, what string, st *stage) {
	t.Helper()
	s := limited(st.engine)
	for range 2 * lifecycle.MaxQueued {
		th, err := s.Runs.Thread(t.Context(), runner, "s", lifecycle.ThreadQuery{Limit: session.DefaultPage})
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return // it was deleted
		}
		if err == nil && th.Session.ActiveRunID != nil {
			_, err = s.Runs.End(t.Context(), refTo(*th.Session.ActiveRunID), lifecycle.Completed, nil)
		} else if err == nil && len(th.Queue.Starts) == 0 {
			once(t, what, s, th.Items)
			return
		}
		if err == nil {
			_, err = s.Runs.StartQueued(t.Context(), runner, "s")
		}
		if err != nil {
			t.Errorf("%s: the queue: %v", what, err)
			return
		}
	}
	t.Errorf("%s: the queue does not become empty", what)
}

// once checks that the input of each run that has completed is shown, and none twice.
func once(t *testing.T, what string, s *stores.Store, items []session.Event) {
	t.Helper()
	shown := map[string]int{}
	for _, e := range items {
		shown[string(e.Fields["content"])]++
	}
	for _, name := range []string{later, "outer", "inner"} {
		n, least := shown[string(merged(name).Input[0].Fields["content"])], 0
		r, err := s.Runs.Run(t.Context(), refTo(name))
		if err == nil && r.Status == lifecycle.Completed {
			least = 1
		}
		if n < least || n > 1 {
			t.Errorf("%s: the input %s of a run that is %s is shown %d times", what, name, r.Status, n)
		}
	}
}
