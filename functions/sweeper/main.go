// Command sweeper finishes what was cut short, on a schedule: deletions of
// sessions, and runs whose workers died.
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
			swept, err := d.Store.Sweep(ctx)
			d.Log.InfoContext(ctx, "swept", "runs", expired, "logs", swept)
			return errors.Join(failure, err)
		}
	})
}
