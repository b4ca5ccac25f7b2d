package stores_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// A start that stops between the item of its run and the transaction changes nothing for
// anyone.
func TestStart_stopped_before_its_transaction(t *testing.T) {
	t.Parallel()
	stopped := func(t *testing.T) (*stores.Store, table.Engine, *calendar) {
		t.Helper()
		engine, clock := storetest.Engine(t), &calendar{}
		stop := errors.New("the process stops")
		stopping := before(engine, func(_ context.Context, c hooks.Call) error {
			if c.Op == hooks.Transact {
				return stop
			}
			return nil
		})
		s := stores.New(engine, stores.WithClock(clock.now))
		mustCreate(t, s, alice, "s", nil)
		mustAppend(t, s, alice, "s", event(t, "", "i", "one"))
		if _, err := stopping.Start(t.Context(), startOf(t, "s", "r1", "two")); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		wantRunItem(t, engine, "r1")
		wantThread(t, s, "s", "idle", "1:one")
		if _, err := s.Run(t.Context(), refOf("s", "r1")); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("the run is there, %v", err)
		}
		return s, engine, clock
	}
	for name, id := range map[string]string{"another run begins": "r2", "the same run begins": "r1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, engine, clock := stopped(t)
			mustStart(t, s, startOf(t, "s", id, "two"))
			wantRunItem(t, engine, id)
			clock.forward(sweep.Grace + time.Minute)
			if err := s.Renew(t.Context(), refOf("s", id)); err == nil {
				t.Error("the run outlived its lease")
			}
			wantRunItem(t, engine, "")
		})
	}
	t.Run("the same run begins while the sweeper deletes the item", func(t *testing.T) {
		t.Parallel()
		s, engine, clock := stopped(t)
		clock.forward(2 * sweep.Grace)
		sweeper := before(engine, func(ctx context.Context, c hooks.Call) error {
			if c.Op != hooks.Write || c.Writes[0].Kind != table.DeleteKind {
				return nil
			}
			_, err := s.Start(ctx, startOf(t, "s", "r1", "two"))
			return err
		}, stores.WithClock(clock.now))
		if _, err := sweeper.Expire(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		wantRunItem(t, engine, "r1")
		wantThread(t, s, "s", "in_progress", "1:one", "2:two")
	})
	t.Run("the sweeper deletes the item when no start can be under way", func(t *testing.T) {
		t.Parallel()
		s, engine, clock := stopped(t)
		for _, left := range []struct {
			after time.Duration
			id    string
		}{{2 * run.Lease, "r1"}, {sweep.Grace, ""}} {
			clock.forward(left.after)
			if _, err := s.Expire(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			wantRunItem(t, engine, left.id)
		}
		wantThread(t, s, "s", "idle", "1:one")
	})
}

// The sweeper leaves the item of a start that takes longer than a lease.
func TestStart_swept_meanwhile(t *testing.T) {
	t.Parallel()
	engine, clock := storetest.Engine(t), &calendar{}
	clock.forward(10 * run.Lease)
	sweeper, swept := stores.New(engine, stores.WithClock(clock.now)), 0
	s := beforeStart(t, engine, func(ctx context.Context) error {
		n, err := sweeper.Expire(ctx, nil)
		swept += n
		return err
	})
	mustStart(t, s, startOf(t, "s", "r", "one"))
	wantRunItem(t, engine, "r")
	mustEnd(t, s, refOf("s", "r"), run.Completed, nil)
	wantRunItem(t, engine, "")
	if swept == 0 {
		t.Error("the sweeper did not find the item")
	}
}

// A run whose start lost its position to an append is known by the position of its input.
func TestStart_after_another_entry(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	plain := stores.New(engine)
	s := beforeStart(t, engine, func(ctx context.Context) error {
		_, _, err := plain.Append(ctx, session.Append{
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

// A start that fails leaves no item.
func TestStart_refused_after_its_item(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	plain := stores.New(engine)
	s := beforeStart(t, engine, func(ctx context.Context) error {
		_, err := plain.Start(ctx, startOf(t, "s", "faster", "one"))
		return err
	})
	if err := startErr(t, s, "s", "r"); !errors.Is(err, fault.Of(fault.Conflict)) {
		t.Errorf("%v, want that a run is in progress", err)
	}
	wantRunItem(t, engine, "faster")
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

// wantRunItem checks which run the item of an active run names; "" for no item.
func wantRunItem(t *testing.T, engine table.Engine, want string) {
	t.Helper()
	if got := storetest.RunItem(t, engine); got != want {
		t.Fatalf("the item names the run %q, want %q", got, want) // what is next would wait for it
	}
}
