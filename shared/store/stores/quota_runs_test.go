package stores_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

func TestRunQuota(t *testing.T) {
	t.Parallel()
	const most = 3
	setUp := func(t *testing.T) (*stores.Store, *calendar) {
		t.Helper()
		s, clock := limited(t, quota.Limits{Runs: most})
		for i := range most + 1 {
			mustCreate(t, s, alice, fmt.Sprint("s", i), nil)
			mustCreate(t, s, bob, fmt.Sprint("b", i), nil)
		}
		for i := range most {
			mustStart(t, s, startOf(t, fmt.Sprint("s", i), fmt.Sprint("r", i), "hi"))
		}
		return s, clock
	}
	another := func(t *testing.T, s *stores.Store) error {
		t.Helper()
		return startErr(t, s, "s3", "r3")
	}

	t.Run("refuses one more and lists the active runs", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		refused := mustExceed(t, another(t, s), quota.Runs, most)
		if refused["used"] != int64(most) || fmt.Sprint(refused["running"]) == "[]" {
			t.Errorf("refused with %v", refused)
		}
		mustUse(t, s, most+1, most)
		if got := mustThread(t, s, "s3"); got.Session.Status != session.Idle || len(got.Items) != 0 {
			t.Errorf("the refusal left %q", shown(got))
		}
	})
	t.Run("the end of a run makes room, however it ends", func(t *testing.T) {
		t.Parallel()
		s, clock := setUp(t)
		for i, end := range []func() error{
			func() error { _, err := s.Runs.End(t.Context(), refOf("s0", "r0"), run.Completed, nil); return err },
			func() error { _, err := s.Runs.Cancel(t.Context(), refOf("s0", "again1")); return err },
			func() error {
				clock.forward(2 * time.Minute)
				_, err := s.Runs.Expire(t.Context(), nil)
				return err
			},
		} {
			if err := end(); err != nil {
				t.Fatal(err)
			}
			mustStart(t, s, startOf(t, "s0", fmt.Sprint("again", i+1), "hi"))
		}
		mustUse(t, s, most+1, 1)
	})
	t.Run("a start that is repeated takes one slot", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		for range 3 {
			mustStart(t, s, startOf(t, "s0", "r0", "hi"))
		}
		mustEnd(t, s, refOf("s0", "r0"), run.Completed, nil)
		mustStart(t, s, startOf(t, "s0", "r0", "hi")) // it is over
		mustUse(t, s, most+1, most-1)
		if err := another(t, s); err != nil {
			t.Error(err)
		}
	})
	t.Run("what a start replaces makes room for it", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		next := startOf(t, "s0", "next", "hi")
		next.OnActive = run.CancelAndMerge
		mustStart(t, s, next)
		mustUse(t, s, most+1, most)
	})
	t.Run("a start that is refused takes none", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		mustEnd(t, s, refOf("s0", "r0"), run.Completed, nil)
		for i := range 3 {
			if err := startErr(t, s, "s1", fmt.Sprint("other", i)); !errors.Is(err, fault.Of(fault.Conflict)) {
				t.Fatal(err)
			}
		}
		if err := another(t, s); err != nil {
			t.Error(err)
		}
	})
	t.Run("others have slots of their own", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		start := startOf(t, "b0", "r", "hi")
		start.UserID = bob
		mustStart(t, s, start)
	})
	t.Run("a slot that was never given back heals", func(t *testing.T) {
		t.Parallel()
		s, clock := setUp(t)
		for i := range 2 { // their runs go with them
			if err := s.Sessions.Delete(t.Context(), alice, fmt.Sprint("s", i)); err != nil {
				t.Fatal(err)
			}
		}
		mustUse(t, s, 2, 1)
		for range 3 {
			clock.forward(30 * time.Second)
			if err := s.Runs.Renew(t.Context(), refOf("s2", "r2")); err != nil {
				t.Fatal(err)
			}
		}
		if err := another(t, s); err != nil {
			t.Error(err)
		}
		mustUse(t, s, 2, 2)
	})
	t.Run("slots of one session heal together", func(t *testing.T) {
		t.Parallel()
		clock, engine := &calendar{}, storetest.Engine(t)
		s := stores.New(engine, stores.WithClock(clock.now), stores.WithQuotas(quota.Limits{Runs: most}))
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		leakSlots(t, engine, most)
		if err := startErr(t, s, "s", "r2"); !errors.Is(err, fault.Of(fault.Conflict)) {
			t.Fatalf("%v, want that a run is in progress", err)
		}
		mustEnd(t, s, refOf("s", "r"), run.Completed, nil)
		mustExceed(t, startErr(t, s, "s", "r2"), quota.Runs, most)
		clock.forward(61 * time.Second)
		if err := startErr(t, s, "s", "r2"); err != nil {
			t.Error(err)
		}
		mustUse(t, s, 1, 1)
	})
}

func startErr(t *testing.T, s *stores.Store, sessionID, runID string) error {
	t.Helper()
	_, err := s.Runs.Start(t.Context(), startOf(t, sessionID, runID, "hi"))
	return err
}

// leakSlots takes slots beside alice's only one, for runs of the same session
// that were never started: as if functions had died in the midst of that.
func leakSlots(t *testing.T, engine table.Engine, n int) {
	t.Helper()
	item := countedItem(t, engine)
	slots, ok := item["r"].(*types.AttributeValueMemberM)
	if !ok || len(slots.Value) != 1 {
		t.Fatalf("alice's slots are %v, want one", item["r"])
	}
	for slot, taken := range maps.Clone(slots.Value) {
		log, _, _ := strings.Cut(slot, "/")
		for i := range n {
			slots.Value[fmt.Sprintf("%s/lost%d", log, i)] = taken
		}
	}
	storetest.Put(t, engine, item)
}

// A process that stops between the end of a run and what follows it leaves the run's item
// and its slot, which do not count.
func TestRunQuota_end_that_stopped(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	with := func(e table.Engine, now time.Time) *stores.Store {
		return stores.New(e, stores.WithQuotas(quota.Limits{Runs: 1}), stores.WithClock(func() time.Time { return now }))
	}
	begun := time.Now()
	s := with(engine, begun)
	for _, id := range []string{"s0", "s1"} {
		mustCreate(t, s, alice, id, nil)
	}
	mustStart(t, s, startOf(t, "s0", "r0", "hi"))
	stopped := errors.New("the process stopped")
	ended := false
	stopping := storetest.Before(engine, func(_ context.Context, c hooks.Call) error {
		if ended {
			return stopped
		}
		ended = c.Op == hooks.Transact
		return nil
	})
	later := begun.Add(run.Lease * 3 / 4)
	if err := with(engine, later).Runs.Renew(t.Context(), refOf("s0", "r0")); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, with(stopping, later), refOf("s0", "r0"), run.Completed, nil)
	mustUse(t, with(engine, later), 2, 0)
	mustStart(t, with(engine, begun.Add(run.Lease*3/2)), startOf(t, "s1", "r1", "hi")) // the lease has not ended
}

// TestRunQuota_racing starts far more runs at once than are allowed, again and
// again: there are never more at work.
func TestRunQuota_racing(t *testing.T) {
	t.Parallel()
	const most, all = 4, 24
	s, _ := limited(t, quota.Limits{Runs: most})
	for i := range all {
		mustCreate(t, s, alice, fmt.Sprint("s", i), nil)
	}
	for round := range 3 {
		var started atomic.Int64
		var racing sync.WaitGroup
		ids := make([]bool, all)
		for i := range all {
			start := startOf(t, fmt.Sprint("s", i), fmt.Sprintf("r%d", round), "hi")
			racing.Go(func() {
				switch _, err := s.Runs.Start(t.Context(), start); {
				case err == nil:
					ids[i] = true
					started.Add(1)
				case !errors.Is(err, fault.Of(fault.Busy)):
					t.Error(err)
				}
			})
		}
		racing.Wait()
		if n := started.Load(); n != most {
			t.Errorf("round %d: %d runs started, want %d", round, n, most)
		}
		mustUse(t, s, all, most)
		for i, ran := range ids {
			if ran {
				mustEnd(t, s, refOf(fmt.Sprint("s", i), fmt.Sprintf("r%d", round)), run.Completed, nil)
			}
		}
	}
}

// TestRunQuota_one_session starts runs of one session at once, some of which
// cancel others. Whoever loses keeps no slot: there is room for another at once.
func TestRunQuota_one_session(t *testing.T) {
	t.Parallel()
	const most, all = 8, 7
	s, _ := limited(t, quota.Limits{Runs: most})
	mustCreate(t, s, alice, "s", nil)
	for round := range 4 {
		var racing sync.WaitGroup
		for i := range all {
			start := startOf(t, "s", fmt.Sprintf("r%d-%d", round, i), "hi")
			if i%3 == 0 {
				start.OnActive = run.CancelAndMerge
			}
			racing.Go(func() {
				if _, err := s.Runs.Start(t.Context(), start); err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
					t.Error(err)
				}
			})
		}
		racing.Wait()
	}
	for i := range most - 1 {
		id := fmt.Sprint("other", i)
		mustCreate(t, s, alice, id, nil)
		mustStart(t, s, startOf(t, id, "r", "hi"))
	}
	mustUse(t, s, most, most)
}
