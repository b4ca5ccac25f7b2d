package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d, or returns the cause of ctx if it ends first. If ctx has ended, it
// returns the cause at once, even if there is nothing to wait for.
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil || d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// SleepAfter waits for a Backoff before another attempt, or returns the cause of ctx if it
// ends first.
func SleepAfter(ctx context.Context, first, most time.Duration, failures int) error {
	return Sleep(ctx, Backoff(first, most, failures))
}

// Backoff returns the wait before another attempt: a random time of up to first, which
// doubles with each failure up to most, so that callers that failed together do not
// retry together. failures counts from 0.
func Backoff(first, most time.Duration, failures int) time.Duration {
	return Jitter(min(first<<min(failures, maxDoublings), most))
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
