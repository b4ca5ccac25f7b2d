package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/boot/batch"
)

// Chore is one task of the sweeper.
type Chore struct {
	Name string
	// Do returns how much was done. It may be stopped and repeated at any point.
	Do func(context.Context) (int, error)
}

// Sweeper does each chore once in an invocation. Each gets an equal share of the time
// that those before it have left, even if others fail. The error joins all failures;
// Lambda counts it for the alarm.
func Sweeper(chores []Chore, log *slog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := batch.TimeToAnswer(ctx)
		defer cancel()
		var failures []error
		done := make([]slog.Attr, 0, len(chores))
		level := slog.LevelDebug // most ticks find nothing to do
		for i, c := range chores {
			n, err := c.within(ctx, len(chores)-i)
			done = append(done, slog.Int(c.Name, n))
			if err != nil {
				failures = append(failures, fmt.Errorf("sweep %s: %w", c.Name, err))
			}
			if n > 0 || err != nil {
				level = slog.LevelInfo
			}
		}
		log.LogAttrs(ctx, level, "swept", done...)
		return errors.Join(failures...)
	}
}

// within does the chore in at most 1/shares of the time left.
func (c Chore) within(ctx context.Context, shares int) (n int, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.Do(ctx)
}
