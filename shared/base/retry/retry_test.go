package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
)

var (
	errOther = errors.New("other")
	errMend  = fmt.Errorf("a race was lost: %w", retry.ErrAgain)
)

// failing returns an operation that fails a number of times, and counts its calls.
func failing(times int, calls *int) func() error {
	return func() error {
		*calls++
		if *calls <= times {
			return errMend
		}
		return nil
	}
}

func TestDo(t *testing.T) {
	t.Parallel()
	p := retry.Policy{First: time.Millisecond, Most: 10 * time.Millisecond}

	t.Run("retries until the operation succeeds", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			if err := retry.Do(t.Context(), p, nil, failing(40, &calls)); err != nil || calls != 41 {
				t.Errorf("%v after %d calls, want success after 41", err, calls)
			}
		})
	})
	t.Run("returns other errors at once", func(t *testing.T) {
		t.Parallel()
		calls := 0
		err := retry.Do(t.Context(), p, nil, func() error { calls++; return errOther })
		if !errors.Is(err, errOther) || errors.Is(err, retry.ErrExhausted) || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})
	t.Run("lets the caller choose the errors to retry", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			bounded := p
			bounded.Tries = 3
			err := retry.Do(t.Context(), bounded, func(err error) bool { return errors.Is(err, errOther) },
				func() error { calls++; return errOther })
			if !errors.Is(err, errOther) || !errors.Is(err, retry.ErrExhausted) || calls != 3 {
				t.Errorf("%v after %d calls, want 3", err, calls)
			}
		})
	})
	t.Run("reserves time for an answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			reserved := p
			reserved.Reserve = 2 * time.Second
			calls, began := 0, time.Now()
			err := retry.Do(ctx, reserved, nil, failing(1<<30, &calls))
			spent := time.Since(began)
			if !errors.Is(err, retry.ErrExhausted) || spent < 3*time.Second || spent > 3*time.Second+p.Most {
				t.Errorf("%v after %s and %d calls, want exhaustion after 3 s", err, spent, calls)
			}
		})
	})
	t.Run("uses half of a short time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			reserved := p
			reserved.Reserve = 2 * time.Second
			calls, began := 0, time.Now()
			err := retry.Do(ctx, reserved, nil, failing(1<<30, &calls))
			spent := time.Since(began)
			if !errors.Is(err, retry.ErrExhausted) || spent < time.Second/2 || spent > time.Second/2+p.Most || calls < 10 {
				t.Errorf("%v after %s and %d calls, want exhaustion after half a second", err, spent, calls)
			}
		})
	})
	t.Run("ends with its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		calls := 0
		err := retry.Do(ctx, p, nil, func() error { calls++; cancel(errOther); return errMend })
		if !errors.Is(err, errOther) || calls != 1 {
			t.Errorf("%v after %d calls, want the context's cause", err, calls)
		}
	})
}
