// Package retry repeats an operation with a back-off and jitter.
package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/sleep"
)

// Policy says how often and how long to retry.
type Policy struct {
	// First is the upper limit of the first delay. It doubles with each further
	// delay, up to Most; the delay itself is random below the limit.
	First, Most time.Duration
	// Reserve is the part of the context's time left when retrying ends, so that the
	// caller still gets an answer; at most half of the time that the context has.
	Reserve time.Duration
	// Tries is the maximum number of attempts; 0 means no limit but the context's.
	Tries int
}

var (
	// ErrAgain is wrapped by errors after which another attempt may succeed.
	ErrAgain = errors.New("try again")
	// ErrExhausted says that all attempts failed. It is joined with the last
	// attempt's error.
	ErrExhausted = errors.New("no try succeeded")
)

// Do calls try until it succeeds or again returns false for its error; a nil again
// accepts errors that wrap ErrAgain. When attempts or time run out, the error wraps
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
		if waitErr := p.wait(ctx, n, end); waitErr != nil {
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

// wait waits after attempt number n, counted from 0.
func (p Policy) wait(ctx context.Context, n int, end time.Time) error {
	if p.Tries > 0 && n+1 >= p.Tries {
		return ErrExhausted
	}
	if !end.IsZero() && !time.Now().Before(end) {
		return ErrExhausted
	}
	return sleep.Retry(ctx, p.First, p.Most, n)
}
