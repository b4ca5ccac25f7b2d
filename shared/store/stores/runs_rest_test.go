package stores_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// The item of an ended run that could not be deleted means nothing: the next run replaces
// it, or the sweeper deletes it.
func TestEnd_rest(t *testing.T) {
	t.Parallel()
	ended := func(t *testing.T) (*stores.Store, *atomic.Int64) {
		t.Helper()
		var refuse atomic.Bool
		var later atomic.Int64
		clock := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		s := before(storetest.Engine(t), func(_ context.Context, c hooks.Call) error {
			if refuse.Load() && c.Op == hooks.Write && c.Writes[0].Kind == table.DeleteKind {
				return table.ErrThrottled
			}
			return nil
		}, stores.WithClock(clock))
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r1", "one"))
		refuse.Store(true)
		mustEnd(t, s, refOf("s", "r1"), run.Completed, nil)
		refuse.Store(false)
		wantThread(t, s, "s", "idle", "1:one")
		return s, &later
	}
	t.Run("the next run replaces it", func(t *testing.T) {
		t.Parallel()
		s, _ := ended(t)
		mustStart(t, s, startOf(t, "s", "r2", "two"))
		if r, err := s.Runs.Run(t.Context(), refOf("s", "r2")); err != nil || r.Status != run.InProgress {
			t.Errorf("%+v, %v", r, err)
		}
		mustEnd(t, s, refOf("s", "r2"), run.Completed, nil)
		wantThread(t, s, "s", "idle", "1:one", "3:two")
	})
	t.Run("the sweeper deletes it and changes nothing else", func(t *testing.T) {
		t.Parallel()
		s, later := ended(t)
		later.Store(int64(2 * run.Lease))
		if n, err := s.Runs.Expire(t.Context(), nil); n != 1 || err != nil {
			t.Fatalf("expired %d, %v", n, err)
		}
		if n, err := s.Runs.Expire(t.Context(), nil); n != 0 || err != nil {
			t.Errorf("expired %d more, %v", n, err)
		}
		if r, err := s.Runs.Run(t.Context(), refOf("s", "r1")); err != nil || r.Status != run.Completed {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
