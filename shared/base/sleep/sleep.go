// Package sleep waits, but not longer than a context.
package sleep

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, or returns the cause of ctx if it ends first.
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

// Retry waits before another attempt: a random time of up to first, which doubles
// with each failure up to most, so that callers that failed together do not retry
// together. failures counts from 0.
func Retry(ctx context.Context, first, most time.Duration, failures int) error {
	return For(ctx, Jitter(min(first<<min(failures, maxDoublings), most)))
}

// maxDoublings keeps the delay from overflowing.
const maxDoublings = 20

// Jitter returns a random duration from 0 to below longest.
func Jitter(longest time.Duration) time.Duration {
	if longest <= 0 {
		return 0
	}
	return rand.N(longest) //nolint:gosec // not security relevant
}
