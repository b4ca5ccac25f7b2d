// Package retry tries a piece of work again: one loop, one back-off with jitter.
package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/sleep"
)

// Policy says how often and how long to try again.
type Policy struct {
	// First is the ceiling of the first wait. It doubles with each further wait up
	// to Most; the wait itself is random below the ceiling.
	First, Most time.Duration
	// Reserve is left of the context's time when tries end, so that the caller can
	// still be answered; half of it, where the context has less than twice as much.
	Reserve time.Duration
	// Tries bounds how often the work is tried; 0 leaves it to the context.
	Tries int
}

var (
	// ErrAgain is wrapped by errors that another try may mend.
	ErrAgain = errors.New("try again")
	// ErrExhausted says that the last try failed like those before it. It comes
	// with the last try's error.
	ErrExhausted = errors.New("no try succeeded")
)

// Do calls try until it succeeds or its error is not one that again accepts; nil
// accepts errors that wrap ErrAgain. Where tries or time run out, the error wraps
// ErrExhausted and that of the last try; where the context ends, its cause.
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

// end is when tries end; the zero time is never.
func (p Policy) end(ctx context.Context) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return deadline.Add(-min(p.Reserve, max(0, time.Until(deadline)/2)))
}

// wait waits after try number n, counted from 0.
func (p Policy) wait(ctx context.Context, n int, end time.Time) error {
	if p.Tries > 0 && n+1 >= p.Tries {
		return ErrExhausted
	}
	if !end.IsZero() && !time.Now().Before(end) {
		return ErrExhausted
	}
	return sleep.Retry(ctx, p.First, p.Most, n)
}
