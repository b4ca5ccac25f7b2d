package watch

import (
	"context"
	"math/rand/v2"
	"time"
)

// sleep waits for d, or returns the cause of ctx if it ends first.
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

// jitter returns a random duration from 0 to below longest, so that clients that
// were disconnected together do not reconnect together.
func jitter(longest time.Duration) time.Duration {
	return rand.N(longest) //nolint:gosec // not security relevant
}
