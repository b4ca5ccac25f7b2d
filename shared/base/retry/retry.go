// Package retry repeats an operation with a back-off and jitter, and waits, but not longer
// than a context.
package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Policy says how often and how long to retry. The zero value retries at once until
// the context ends.
type Policy struct {
	// First is the upper limit of the first delay. It doubles with each further
	// delay, up to Most; the delay itself is random below the limit.
	First, Max time.Duration
	// After, if set, returns the delay that an error asks for, as a Retry-After header
	// does. It replaces the back-off: the delay is what the error asks for, but at
	// least First and at most Most, plus a random part of First.
	After func(error) time.Duration
	// Reserve is the part of the context's time left when retrying ends, so that the
	// caller still gets an answer; at most half of the time that the context has.
	Reserve time.Duration
	// Tries is the maximum number of attempts; 0 means no limit but the context's.
	Tries int
	// Budget, if set, limits the sum of the delays. Each delay is subtracted from it
	// before the wait, and retrying ends when nothing is left. Consecutive calls of Do
	// may share one, and the caller may subtract from it too.
	Budget *time.Duration
}

var (
	// ErrAgain is wrapped by errors after which another attempt may succeed.
	ErrAgain = errors.New("try again")
	// ErrExhausted says that all attempts failed. It is joined with the last
	// attempt's error.
	ErrExhausted = errors.New("no try succeeded")
)

// Do calls try until it succeeds or again returns false for its error; a nil again
// accepts errors that wrap ErrAgain. When attempts, time or budget run out, the error wraps
// ErrExhausted and the last attempt's error; when the context ends, it wraps the
// cause and the last attempt's error.
func Do(ctx context.Context, p Policy, again func(error) bool, try func() error) error {
	if again == nil {
		again = func(err error) bool { return errors.Is(err, ErrAgain) }
	}
	end := p.end(ctx)
	for n := 0; ; n++ {
		err := try()
		if err == nil || !again(err) {
			return err
		}
		if waitErr := p.wait(ctx, n, end, err); waitErr != nil {
			return fmt.Errorf("%w: %w", waitErr, err)
		}
	}
}

// end returns when retrying ends; the zero time means never.
func (p Policy) end(ctx context.Context) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return deadline.Add(-min(p.Reserve, max(0, time.Until(deadline)/2)))
}

// wait waits after attempt number n, counted from 0, which returned err.
func (p Policy) wait(ctx context.Context, n int, end time.Time, err error) error {
	if p.Tries > 0 && n+1 >= p.Tries {
		return ErrExhausted
	}
	if !end.IsZero() && !time.Now().Before(end) {
		return ErrExhausted
	}
	delay := p.delay(n, err)
	if p.Budget != nil {
		if *p.Budget -= delay; *p.Budget <= 0 {
			return ErrExhausted
		}
	}
	return Sleep(ctx, delay)
}

// delay returns how long to wait after attempt number n, which returned err. Callers
// that failed together get different delays, so that they do not retry together.
func (p Policy) delay(n int, err error) time.Duration {
	if p.After != nil {
		return min(max(p.After(err), p.First), p.Max) + Jitter(p.First)
	}
	return Backoff(p.First, p.Max, n)
}

// Reserving returns a context that ends a while before ctx does, if that has a deadline, so
// that the caller still gets an answer.
func Reserving(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-reserve))
	}
	return context.WithCancel(ctx)
}
