package sweep

import (
	"context"
	"errors"
	"time"
)

// EachShard sweeps the shards of one kind of work, each in its share of the time
// that is left, and returns the total and the errors.
func EachShard(
	ctx context.Context, n uint32, name func(uint32) string, sweep func(context.Context, string) (int, error),
) (int, error) {
	sum := 0
	var failures []error
	for shard := range n {
		own, cancel := share(ctx, int(n-shard))
		done, err := sweep(own, name(shard))
		cancel()
		sum += done
		failures = append(failures, err)
	}
	return sum, errors.Join(failures...)
}

// share returns a context with an equal share of the time that is left.
func share(ctx context.Context, among int) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(among))
	}
	return context.WithCancel(ctx)
}
