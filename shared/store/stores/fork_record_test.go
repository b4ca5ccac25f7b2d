package stores_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

var errStopped = errors.New("the function was stopped")

// A fork writes its record into the source's log before it exists.
func TestFork_record(t *testing.T) {
	t.Parallel()

	t.Run("of a refused fork is removed", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "source", nil)
		mustCreate(t, s, alice, "taken", nil)
		if err := tryFork(t, s, "source", "taken"); !errors.Is(err, fault.Of(fault.Conflict)) {
			t.Errorf("a fork under an id that exists: %v", err)
		}
		if left := storetest.Partition(t, engine, "L#"+fixture.Log(t, s, "source"), "C#"); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})

	t.Run("of an interrupted fork is not shown, and does not keep the log", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		stopped := stores.New(beforeTransaction(engine, func() error { return errStopped }))
		chat(t, s, "source", 2)
		if err := tryFork(t, stopped, "source", "never"); !errors.Is(err, errStopped) {
			t.Fatalf("an interrupted fork: %v", err)
		}
		fixture.Fork(t, s, "source", "fork", nil)
		tree, err := s.History.Forks(t.Context(), session.TreeQuery{UserID: alice, SessionID: "source"})
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, b := range tree.Root.Children {
			shown = append(shown, b.ID)
		}
		if diff := cmp.Diff([]string{"fork"}, shown); diff != "" {
			t.Errorf("forks (-want +got):\n%s", diff)
		}
		for _, id := range []string{"source", "fork"} {
			if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
				t.Fatal(err)
			}
		}
		sweptEmpty(t, engine)
	})

	t.Run("does not outlive a source that is deleted meanwhile", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		chat(t, s, "source", 2)
		racing := stores.New(beforeTransaction(engine, func() error { return s.Sessions.Delete(t.Context(), alice, "source") }))
		if err := tryFork(t, racing, "source", "late"); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("a fork of a session that was deleted meanwhile: %v", err)
		}
		sweptEmpty(t, engine)
	})

	t.Run("keeps the log of a fork whose answer was lost", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		chat(t, s, "source", 2)
		f := session.ForkOf{SessionID: "source", UserID: alice, ID: "fork", Nonce: uuid.NewString()}
		for range 2 { // the second one is a repetition
			if _, err := s.History.Fork(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Sessions.Delete(t.Context(), alice, "source"); err != nil {
			t.Fatal(err)
		}
		if _, err := afterGrace(engine).Lifecycle.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := mustEvents(t, s, alice, "fork", session.EventQuery{}); len(got) != 5 {
			t.Errorf("the fork has %d events, want those of two turns and the initial state", len(got))
		}
	})
}

func tryFork(t *testing.T, s *stores.Store, id, fork string) error {
	t.Helper()
	_, err := s.History.Fork(t.Context(), session.ForkOf{SessionID: id, UserID: alice, ID: fork, Nonce: uuid.NewString()})
	return err
}

// beforeTransaction calls do before the first transaction; its error replaces the
// transaction.
func beforeTransaction(of table.Engine, do func() error) table.Engine {
	var done atomic.Bool
	return storetest.Before(of, func(_ context.Context, c hooks.Call) error {
		if c.Op != hooks.Transact || done.Swap(true) {
			return nil
		}
		return do()
	})
}

func afterGrace(engine table.Engine) *stores.Store {
	return stores.New(engine, stores.WithClock(func() time.Time { return time.Now().Add(sweep.Grace + time.Hour) }))
}

// sweptEmpty requires that the sweeper leaves nothing of the logs.
func sweptEmpty(t *testing.T, engine table.Engine) {
	t.Helper()
	later := afterGrace(engine)
	for range 2 { // a source is due once its last fork is gone
		if _, err := later.Lifecycle.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range keysIn(t, engine) {
		if k[:2] == "L#" || k[:2] == "S#" {
			t.Errorf("left behind: %s", k)
		}
	}
}
