package stores_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// A start whose position was taken is retried after the entry that took it.
func TestStart_second_try(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	s := before(storetest.Engine(t), refusing(hooks.Transact, &left, &table.ConditionError{Failures: []table.Failure{{}}}))
	mustCreate(t, s, alice, "s", nil)
	left.Store(2)
	if _, err := s.Runs.Start(t.Context(), startOf(t, "s", "r", "hi")); err != nil {
		t.Fatal(err)
	}
	if got := mustThread(t, s, "s"); got.Session.ActiveRunID == nil || len(got.Items) != 1 {
		t.Errorf("the thread is %q, want the input of the active run", shown(got))
	}
}

// Starts and appends compete for the same positions, and all of them get one.
func TestStart_among_appends(t *testing.T) {
	t.Parallel()
	const writers, each = 4, 8
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	var racing sync.WaitGroup
	for w := range writers {
		racing.Go(func() {
			for range each {
				a := session.Append{UserID: alice, SessionID: "s", Events: []session.Event{event(t, "", fmt.Sprint("i", w), "hi")}}
				if _, _, err := s.Sessions.Append(t.Context(), a); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range each {
		id := fmt.Sprint("r", n)
		mustStart(t, s, startOf(t, "s", id, "hi"))
		mustEnd(t, s, refOf("s", id), run.Completed, nil)
	}
	racing.Wait()
	if got := mustEvents(t, s, alice, "s", session.EventQuery{}); len(got) != each*(writers+1) {
		t.Errorf("%d events, want %d", len(got), each*(writers+1))
	}
}

// A start that always loses the race against the end of the active run is answered
// before its time is over.
func TestStart_in_vain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left atomic.Int64
		s := before(memory.New(store.Schema()), refusing(hooks.Transact, &left, &table.ConditionError{Failures: []table.Failure{{}}}))
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		left.Store(1 << 40)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		next := startOf(t, "s", "next", "hi")
		next.OnActive = run.CancelAndMerge
		_, err := s.Runs.Start(ctx, next)
		mustBeBusy(t, err)
	})
}

// A run whose start lost its position to an append is known by the position of its input.
func TestStart_after_another_entry(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	plain := stores.New(engine)
	s := beforeStart(t, engine, func(ctx context.Context) error {
		_, _, err := plain.Sessions.Append(ctx, session.Append{
			UserID: alice, SessionID: "s", Events: []session.Event{event(t, "", "i", "faster")},
		})
		return err
	})
	mustStart(t, s, startOf(t, "s", "r", "one"))
	wantThread(t, s, "s", "in_progress", "1:faster", "2:one")
	next := startOf(t, "s", "next", "two")
	next.OnActive = run.CancelAndMerge
	mustStart(t, s, next)
	wantThread(t, s, "s", "in_progress", "1:faster", "5:one", "6:two")
}

// beforeStart returns a store with a session, which does something before the first
// transaction from now on.
func beforeStart(t *testing.T, engine table.Engine, do func(context.Context) error) *stores.Store {
	t.Helper()
	mustCreate(t, stores.New(engine), alice, "s", nil)
	done := false
	return before(engine, func(ctx context.Context, c hooks.Call) error {
		if c.Op != hooks.Transact || done {
			return nil
		}
		done = true
		return do(ctx)
	})
}
