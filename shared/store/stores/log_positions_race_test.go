package stores_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// An invocation that is appended while a fork looks for it is either unknown or
// known with everything before it: texts and state belong to the same head.
func TestFork_before_a_concurrent_append(t *testing.T) {
	t.Parallel()
	inTheMidst(t, func(s *stores.Store, id string) {
		late := "late"
		fork := mustFork(t, s, id, id+"-fork", &late)
		events := mustEvents(t, s, alice, fork.ID, session.EventQuery{})
		last := string(events[len(events)-1].StateDelta["n"])
		if got, want := merged(t, s, alice, fork.ID), `{"n":`+last+`}`; got != want {
			t.Errorf("%s: the fork of %d events has the state %s, want %s", id, len(events), got, want)
		}
	})
}

// The dry run of a rewind that looks for such an invocation matches the rewind.
func TestRewind_before_a_concurrent_append(t *testing.T) {
	t.Parallel()
	inTheMidst(t, func(s *stores.Store, id string) {
		r := session.Rewind{UserID: alice, SessionID: id, Before: "late", DryRun: true, Nonce: "r"}
		planned, err := s.History.Rewind(t.Context(), r)
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		r.DryRun = false
		done, err := s.History.Rewind(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(planned.State, done.State); d != "" || planned.Event.Seq != done.Event.Seq {
			t.Errorf("%s: the plan was for position %d, done was %d\n%s", id, planned.Event.Seq, done.Event.Seq, d)
		}
	})
}

// Nor is a plan made of an older head and a newer state.
func TestRewind_plan_is_of_one_moment(t *testing.T) {
	t.Parallel()
	inTheMidst(t, func(s *stores.Store, id string) {
		planned, err := s.History.Rewind(t.Context(), session.Rewind{
			UserID: alice, SessionID: id, Before: "early", DryRun: true, Nonce: "r",
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[int64]string{2: "null", 3: "null", 4: ""}[planned.Event.Seq]
		if got := string(planned.State["n"]); got != want {
			t.Errorf("%s: a marker at %d would restore %q, want %q", id, planned.Event.Seq, got, want)
		}
	})
}

// inTheMidst does an operation again and again, each time on a session of its
// own, to which one request later than before another writer appends.
func inTheMidst(t *testing.T, do func(s *stores.Store, id string)) {
	t.Helper()
	var left atomic.Int64 // requests until the append; below 0 it was made
	var appends func()
	s := before(storetest.Engine(t), func(_ context.Context, c hooks.Call) error {
		if !readsNewest(c) && left.Add(-1) == 0 {
			appends()
		}
		return nil
	})
	for at := int64(1); !t.Failed(); at++ {
		id := fmt.Sprint("s", at)
		mustCreate(t, s, alice, id, nil)
		mustAppend(t, s, alice, id, stateEvent(t, "early", map[string]any{"n": 1}))
		appends = func() {
			mustAppend(t, s, alice, id, stateEvent(t, "between", map[string]any{"n": 2}))
			mustAppend(t, s, alice, id, stateEvent(t, "late", map[string]any{"n": nil}))
		}
		left.Store(at)
		do(s, id)
		if left.Swap(-1) > 0 { // it made fewer requests
			return
		}
	}
}
