package watch

import (
	"context"
	"math/rand/v2"
	"time"
)

// sleep waits, or returns why the context ended before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// jitter is a random part of a duration, from none to all of it, so that clients
// that lost the same server do not return together.
func jitter(longest time.Duration) time.Duration {
	return rand.N(longest) //nolint:gosec // it spreads load, and keeps no secret
}
