// Command sweeper finishes what was cut short, on a schedule: deletions of
// sessions, imports that nobody goes on with, erasures, and runs whose workers died.
// It deletes the sessions whose retention is over.
package main

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/boot"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return func(ctx context.Context) error {
			expired, failure := d.Store.Expire(ctx)
			retired, overdue := d.Store.SweepRetention(ctx)
			ended, broken := d.Store.SweepImports(ctx)
			erased, unfinished := d.Store.SweepErasures(ctx)
			swept, err := d.Store.Sweep(ctx)
			d.Log.InfoContext(ctx, "swept", "runs", expired, "sessions", retired,
				"imports", ended, "erasures", erased, "logs", swept)
			return errors.Join(failure, overdue, broken, unfinished, err)
		}
	})
}
