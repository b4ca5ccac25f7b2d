package retry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	p := retry.Policy{First: time.Millisecond, Max: 10 * time.Millisecond}

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
			if !errors.Is(err, retry.ErrExhausted) || spent < 3*time.Second || spent > 3*time.Second+p.Max {
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
			if !errors.Is(err, retry.ErrExhausted) || spent < time.Second/2 || spent > time.Second/2+p.Max || calls < 10 {
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
	t.Run("retries at once without a delay, until the context ends", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			calls, began := 0, time.Now()
			err := retry.Do(ctx, retry.Policy{}, nil, func() error {
				if calls++; calls == 1000 {
					cancel(errOther)
				}
				return errMend
			})
			if !errors.Is(err, errOther) || calls != 1000 || time.Since(began) != 0 {
				t.Errorf("%v after %s and %d calls, want the context's cause after 1000", err, time.Since(began), calls)
			}
		})
	})
}

// waits returns the times between the calls that Do makes.
func waits(ctx context.Context, p retry.Policy, err error) (between []time.Duration, last error) {
	var before time.Time
	last = retry.Do(ctx, p, func(error) bool { return true }, func() error {
		if !before.IsZero() {
			between = append(between, time.Since(before))
		}
		before = time.Now()
		return err
	})
	return between, last
}

func TestDo_delay_that_an_error_asks_for(t *testing.T) {
	t.Parallel()
	const first, most = 100 * time.Millisecond, time.Second
	for name, test := range map[string]struct{ asked, want time.Duration }{
		"waits as long as the error asks for":              {300 * time.Millisecond, 300 * time.Millisecond},
		"waits at least First":                             {0, first},
		"waits at most Most":                               {time.Hour, most},
		"waits at least First if the delay is in the past": {-time.Hour, first},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const tries = 50
				after := func(err error) time.Duration {
					if !errors.Is(err, errOther) {
						t.Errorf("asked about %v", err)
					}
					return test.asked
				}
				p := retry.Policy{First: first, Max: most, After: after, Tries: tries}
				between, err := waits(t.Context(), p, errOther)
				if !errors.Is(err, retry.ErrExhausted) || len(between) != tries-1 {
					t.Fatalf("%v after %d waits", err, len(between))
				}
				shortest, longest := slices.Min(between), slices.Max(between)
				if shortest < test.want || longest >= test.want+first || longest-shortest < first/2 {
					t.Errorf("waits from %s to %s, want %s and a random part of %s", shortest, longest, test.want, first)
				}
			})
		})
	}
}

func TestDo_budget(t *testing.T) {
	t.Parallel()
	const first = 100 * time.Millisecond
	fixed := func(error) time.Duration { return first }
	t.Run("ends when the delays would use the budget up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			left, began := time.Second, time.Now()
			between, err := waits(t.Context(), retry.Policy{First: first, Max: first, After: fixed, Budget: &left}, errMend)
			if !errors.Is(err, retry.ErrExhausted) || !errors.Is(err, errMend) {
				t.Errorf("got %v, want exhaustion and the last error", err)
			}
			// Each wait takes 100 to 200 ms, and the next one would exceed the budget.
			if n := len(between); n < 5 || n > 9 || left > 0 || time.Since(began) >= time.Second {
				t.Errorf("%d waits in %s, %s left", n, time.Since(began), left)
			}
		})
	})
	t.Run("is shared by calls and their caller", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			left, began := time.Second, time.Now()
			p := retry.Policy{First: first, Max: first, After: fixed, Budget: &left}
			calls := 0
			if err := retry.Do(t.Context(), p, nil, failing(2, &calls)); err != nil || left != time.Second-time.Since(began) {
				t.Fatalf("%v, %s left after %s", err, left, time.Since(began))
			}
			left -= time.Second
			between, err := waits(t.Context(), p, errMend)
			if !errors.Is(err, retry.ErrExhausted) || len(between) != 0 {
				t.Errorf("%v after %d waits, want none with an empty budget", err, len(between))
			}
		})
	})
	t.Run("does not limit calls that succeed", func(t *testing.T) {
		t.Parallel()
		var left time.Duration
		if err := retry.Do(t.Context(), retry.Policy{Budget: &left}, nil, func() error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
