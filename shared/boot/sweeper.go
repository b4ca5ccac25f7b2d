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

// StartSweeper runs the function that completes interrupted work until Lambda stops it.
// Short tasks come first.
func StartSweeper() {
	Start(func(d Deps) (any, error) {
		return Sweeper([]Chore{
			{"runs", d.expireRuns()},
			{"queues", d.startQueues()},
			{"sessions", d.Store.Lifecycle.SweepRetention},
			{"imports", d.Store.Archives.SweepImports},
			{"erasures", d.Store.Lifecycle.SweepErasures},
			{"logs", d.Store.Lifecycle.Sweep},
		}, d.Log), nil
	})
}

// expireRuns hands runs whose workers were lost to other workers, and ends those
// that may not be continued.
func (d Deps) expireRuns() func(context.Context) (int, error) {
	start := d.StartRun()
	return func(ctx context.Context) (int, error) { return d.Store.Runs.Expire(ctx, start) }
}

// startQueues begins the queued runs that the function which follows the table's
// stream has not started.
func (d Deps) startQueues() func(context.Context) (int, error) {
	start := d.NextQueued()
	return func(ctx context.Context) (int, error) { return d.Store.Runs.SweepQueues(ctx, start) }
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
