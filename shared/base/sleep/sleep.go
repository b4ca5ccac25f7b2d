// Package sleep waits without outstaying a context.
package sleep

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, or returns why the context ended before.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Retry waits before another try: a random part, from none to all, of first
// doubled after each failure, numbered from 0, up to most. So those who failed
// together do not come again together.
func Retry(ctx context.Context, first, most time.Duration, failures int) error {
	return For(ctx, Jitter(min(first<<min(failures, maxDoublings), most)))
}

// maxDoublings keeps a wait from overflowing.
const maxDoublings = 20

// Jitter is a random part of a duration, from none to all of it.
func Jitter(longest time.Duration) time.Duration {
	if longest <= 0 {
		return 0
	}
	return rand.N(longest) //nolint:gosec // it spreads load, and keeps no secret
}
