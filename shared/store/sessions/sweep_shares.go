package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/store/table"
)

// eachShard sweeps the shards of one kind of work, each in its share of the time
// that is left; the sum is returned, and what went wrong with any.
func eachShard(
	ctx context.Context, n uint32, name func(uint32) string, sweep func(context.Context, string) (int, error),
) (int, error) {
	sum := 0
	var failures []error
	for shard := range n {
		own, cancel := shareOfTime(ctx, int(n-shard))
		done, err := sweep(own, name(shard))
		cancel()
		sum += done
		failures = append(failures, err)
	}
	return sum, errors.Join(failures...)
}

// shareOfTime is a context for the first of so many that share the time left.
func shareOfTime(ctx context.Context, among int) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(among))
	}
	return context.WithCancel(ctx)
}

// eachOf does something about each of several, and goes on past those that fail
// until the context ends. The error names some of them.
func eachOf[T any](ctx context.Context, all []T, do func(T) error) error {
	var failures []error
	failed := 0
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failures, err)...)
		}
		if err := do(one); err != nil {
			if failed++; len(failures) < sweepTold {
				failures = append(failures, err)
			}
		}
	}
	if failed > len(failures) {
		failures = append(failures, fmt.Errorf("and %d more", failed-len(failures)))
	}
	return errors.Join(failures...)
}

// eachItem does something about each item that a query finds, and goes on past
// those that fail. The error names some of each page.
func (s *Store) eachItem(ctx context.Context, q table.Query, do func(table.Item) error) error {
	var failures []error
	err := s.db.Pages(ctx, q, func(page []table.Item) (bool, error) {
		if err := eachOf(ctx, page, do); err != nil && len(failures) < sweepTold {
			failures = append(failures, err)
		}
		return true, ctx.Err()
	})
	return errors.Join(append(failures, err)...)
}
