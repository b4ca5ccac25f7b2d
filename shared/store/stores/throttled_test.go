package stores_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// refusing ends calls of a kind with an error while refusals are left.
func refusing(op hooks.Op, left *atomic.Int64, err error) func(context.Context, hooks.Call) error {
	return func(_ context.Context, c hooks.Call) error {
		if c.Op == op && left.Add(-1) >= 0 {
			return err
		}
		return nil
	}
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	t.Run("retries a transaction until there is capacity", func(t *testing.T) {
		t.Parallel()
		var left atomic.Int64
		s := before(storetest.Engine(t), refusing(hooks.Transact, &left, table.ErrThrottled))
		mustCreate(t, s, alice, "s", nil)
		left.Store(3)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		if n := left.Load(); n >= 0 {
			t.Errorf("%d refusals are left", n)
		}
		if got := mustThread(t, s, "s"); len(got.Items) != 1 {
			t.Errorf("the thread is %q, want the input once", shown(got))
		}
	})
	t.Run("answers the caller before the time is over", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var left atomic.Int64
			s := before(memory.New(store.Schema()), refusing(hooks.Transact, &left, table.ErrThrottled))
			mustCreate(t, s, alice, "s", nil)
			left.Store(1 << 40)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := s.Runs.Start(ctx, startOf(t, "s", "r", "hi"))
			mustBeBusy(t, err)
			if ctx.Err() != nil {
				t.Error("the answer was too late")
			}
			left.Store(0)
			mustStart(t, s, startOf(t, "s", "r", "hi"))
		})
	})
	t.Run("refuses other calls, which the engine has retried", func(t *testing.T) {
		t.Parallel()
		var left atomic.Int64
		s := before(storetest.Engine(t), refusing(hooks.Get, &left, table.ErrThrottled))
		mustCreate(t, s, alice, "s", nil)
		left.Store(1)
		_, err := s.Runs.Run(t.Context(), refOf("s", "r"))
		mustBeBusy(t, err)
		if !errors.Is(err, table.ErrThrottled) {
			t.Errorf("%v hides why", err)
		}
		if r, err := s.Runs.Run(t.Context(), refOf("s", "r")); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// mustBeBusy checks that an error asks the caller to try again later, and returns
// its members.
func mustBeBusy(t *testing.T, err error) map[string]any {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy || f.RetryAfter <= 0 {
		t.Fatalf("%v, want fault.Busy with a time to retry", err)
	}
	return f.Extra
}
