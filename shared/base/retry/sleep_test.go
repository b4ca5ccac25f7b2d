package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	t.Run("waits for the duration", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if err := retry.Sleep(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		})
	})
	t.Run("returns the cause when the context ends", func(t *testing.T) {
		t.Parallel()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if err := retry.Sleep(ctx, time.Hour); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if err := retry.Sleep(ctx, 0); !errors.Is(err, why) {
			t.Errorf("without a wait: got %v", err)
		}
	})
	t.Run("returns at once if there is nothing to wait for", func(t *testing.T) {
		t.Parallel()
		if err := errors.Join(retry.Sleep(t.Context(), 0), retry.Sleep(t.Context(), -time.Second)); err != nil {
			t.Error(err)
		}
	})
}

func TestSleepAfter(t *testing.T) {
	t.Parallel()
	const first, most = 100 * time.Millisecond, time.Second
	for failures, longest := range []time.Duration{first, 2 * first, 4 * first, 8 * first, most, most} {
		synctest.Test(t, func(t *testing.T) {
			least, last, total := longest, time.Duration(0), time.Duration(0)
			const tries = 200
			for range tries {
				began := time.Now()
				if err := retry.SleepAfter(t.Context(), first, most, failures); err != nil {
					t.Fatal(err)
				}
				waited := time.Since(began)
				least, last, total = min(least, waited), max(last, waited), total+waited
			}
			if last > longest || last < longest*8/10 || least > longest*2/10 || total < longest*tries/3 || total > longest*tries*2/3 {
				t.Errorf("after %d failures: waits from %s to %s, %s on average, of %s", failures, least, last, total/tries, longest)
			}
		})
	}
	if d := retry.Jitter(0); d != 0 {
		t.Errorf("a part of nothing is %s", d)
	}
}
