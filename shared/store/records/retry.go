package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	backoffFirst = 5 * time.Millisecond
	backoffMost  = 500 * time.Millisecond
	// AnswerTime is left of a context's time when tries end, so that the caller
	// is answered: a function that runs out of time is stopped without an answer.
	AnswerTime = 2 * time.Second
	// undecidedTries bounds how often a write is sent whose answer is lost each time.
	undecidedTries = 6

	retryAfter = time.Second
)

func policy() retry.Policy {
	return retry.Policy{First: backoffFirst, Most: backoffMost, Reserve: AnswerTime}
}

func policyWithin(most time.Duration) retry.Policy {
	p := policy()
	p.Most = most
	return p
}

// Busy asks the caller of a request to come again in a second.
func Busy(format string, args ...any) error { return busy(format, args...) }

// Contended does a piece of work that other callers may get in the way of: again
// from its first read, after a wait, while it ends with table.ErrConditionFailed or an
// error that wraps retry.ErrAgain. It is a fault.Busy where time runs out.
func Contended(ctx context.Context, try func() error) error {
	return counted(ctx, policy(), try)
}

// ContendedWithin is Contended with a bound on the wait between two tries: who has
// lost often tries as often as others.
func ContendedWithin(ctx context.Context, most time.Duration, try func() error) error {
	return counted(ctx, policyWithin(most), try)
}

// ContendedValue is Contended for work that has a result.
func ContendedValue[T any](ctx context.Context, try func() (T, error)) (T, error) {
	var out T
	err := Contended(ctx, func() (err error) {
		out, err = try()
		return err
	})
	return out, err
}

func counted(ctx context.Context, p retry.Policy, try func() error) error {
	return Exhausted(retry.Do(ctx, p, func(err error) bool {
		again := contended(err)
		if again {
			metrics.Count(ctx, metrics.Conflicts, 1)
		}
		return again
	}, try))
}

// Settled reads again, after a wait, while what was read does not belong together:
// while it ends with an error that Contended would try again after. It is not counted
// as a conflict.
func Settled(ctx context.Context, try func() error) error {
	return Exhausted(retry.Do(ctx, policy(), contended, try))
}

// SettledWithin is Settled with a bound on the wait between two tries.
func SettledWithin(ctx context.Context, most time.Duration, try func() error) error {
	return Exhausted(retry.Do(ctx, policyWithin(most), contended, try))
}

// SettledValue is Settled for a read that has a result.
func SettledValue[T any](ctx context.Context, try func() (T, error)) (T, error) {
	var out T
	err := Settled(ctx, func() (err error) {
		out, err = try()
		return err
	})
	return out, err
}

func contended(err error) bool {
	return errors.Is(err, table.ErrConditionFailed) || errors.Is(err, retry.ErrAgain)
}

// Exhausted asks the caller of a request to come again where all tries failed. Why they
// did is told in words alone, so that no other loop tries again. Of a write whose
// outcome is unknown it says nothing.
func Exhausted(err error) error {
	if errors.Is(err, retry.ErrExhausted) && !isUndecided(err) {
		return fmt.Errorf("%w: %v", busy("too many requests meet here at once; try again"), err) //nolint:errorlint // see above
	}
	return err
}
