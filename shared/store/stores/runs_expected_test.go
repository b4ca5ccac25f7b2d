package stores_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// A run can be started after a position that the caller has seen, also if it discards
// a failed one. Whatever another caller does at any of its steps, only one of them
// begins a run there.
func TestStart_expected(t *testing.T) {
	t.Parallel()
	for before, problem := range map[run.Status]*run.Problem{
		run.Completed: nil, run.Failed: run.NewProblem("boom", "it broke"),
	} {
		t.Run(string(before), func(t *testing.T) {
			t.Parallel()
			raceForPosition(t, func(s *stores.Store) {
				mustCreate(t, s, alice, "s", nil)
				mustStart(t, s, startOf(t, "s", "r0", "hi"))
				mustEnd(t, s, refOf("s", "r0"), before, problem)
			})
		})
	}
}

// raceForPosition starts a run after a position that a rival takes, at each step of
// the start.
func raceForPosition(t *testing.T, prepare func(*stores.Store)) {
	t.Helper()
	raced, refused := 0, 0
	for step := 1; ; step++ {
		var calls atomic.Int64
		var rival atomic.Pointer[func()] // a store also calls from other goroutines
		s := stores.New(hooks.New(storetest.Engine(t), hooks.Hooks{Before: func(context.Context, hooks.Call) error {
			if rival.Load() != nil && calls.Add(1) == int64(step) {
				if do := rival.Swap(nil); do != nil {
					(*do)()
				}
			}
			return nil
		}}))
		prepare(s)
		seen, err := s.Sessions.Get(t.Context(), alice, "s")
		if err != nil {
			t.Fatal(err)
		}
		other := startOf(t, "s", "rival", "hi")
		other.ExpectedSeq = &seen.HeadSeq
		acts := func() {
			mustStart(t, s, other)
			mustEnd(t, s, refOf("s", "rival"), run.Completed, nil)
		}
		rival.Store(&acts)
		own := startOf(t, "s", "own", "hi")
		own.ExpectedSeq = &seen.HeadSeq
		_, err = s.Runs.Start(t.Context(), own)
		if rival.Load() != nil { // the start has fewer steps
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		raced++
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Conflict || f.Extra["head_seq"] == nil {
			t.Errorf("with the rival at step %d: %v", step, err)
		} else {
			refused++
		}
		if _, err := s.Runs.Run(t.Context(), refOf("s", "own")); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("the run of the refused start: %v", err)
		}
	}
	t.Logf("%d steps with a rival, %d refused", raced, refused)
	if raced < 3 || refused != raced {
		t.Errorf("%d of %d starts were refused", refused, raced)
	}
}
