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
	maxBackoff   = 500 * time.Millisecond
	// AnswerTime is reserved from a context's time when retries end, so that the
	// caller still gets an answer: a function that exceeds its timeout is stopped
	// without one.
	AnswerTime = 2 * time.Second
	// undecidedTries is how often a write is sent while each answer is lost.
	undecidedTries = 6

	retryAfter = time.Second
)

func policy() retry.Policy {
	return retry.Policy{First: backoffFirst, Max: maxBackoff, Reserve: AnswerTime}
}

func policyWithin(most time.Duration) retry.Policy {
	p := policy()
	p.Max = most
	return p
}

// Busy returns a fault.Busy that asks the caller to try again in a second.
func Busy(format string, args ...any) error { return busy(format, args...) }

// Contended repeats work that races with other callers: it calls try again, from
// its first read and after a back-off, while try returns table.ErrConditionFailed
// or an error that wraps retry.ErrAgain. It returns a fault.Busy when time runs
// out.
func Contended(ctx context.Context, try func() error) error {
	return counted(ctx, policy(), try)
}

// ContendedWithin is Contended with an upper bound on the wait between attempts: a
// caller that has lost often tries as often as others.
func ContendedWithin(ctx context.Context, most time.Duration, try func() error) error {
	return counted(ctx, policyWithin(most), try)
}

// ContendedValue is Contended for work that returns a result.
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

// Settled repeats an inconsistent read: it calls try again, after a back-off, while
// try returns an error that Contended would retry. These retries are not counted as
// conflicts.
func Settled(ctx context.Context, try func() error) error {
	return Exhausted(retry.Do(ctx, policy(), contended, try))
}

// SettledWithin is Settled with an upper bound on the wait between attempts.
func SettledWithin(ctx context.Context, most time.Duration, try func() error) error {
	return Exhausted(retry.Do(ctx, policyWithin(most), contended, try))
}

// SettledValue is Settled for a read that returns a result.
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

// Exhausted turns the error of a work whose attempts all failed into a fault.Busy.
// It includes the cause as text only, so that no outer loop retries it. A write
// whose outcome is unknown stays undecided.
func Exhausted(err error) error {
	if errors.Is(err, retry.ErrExhausted) && !isUndecided(err) {
		return fmt.Errorf("%w: %v", busy("too many requests meet here at once; try again"), err) //nolint:errorlint // see above
	}
	return err
}
