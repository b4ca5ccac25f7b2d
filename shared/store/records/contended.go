package records

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table"
)

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

func policyWithin(most time.Duration) retry.Policy {
	p := policy()
	p.Max = most
	return p
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

func contended(err error) bool {
	return errors.Is(err, table.ErrConditionFailed) || errors.Is(err, retry.ErrAgain)
}
