// Command sweeper finishes the deletion of sessions, on a schedule.
package main

import (
	"context"

	"github.com/rethread/rethread/shared/boot"
)

func main() {
	boot.Start(func(d boot.Deps) any {
		return func(ctx context.Context) error {
			swept, err := d.Store.Sweep(ctx)
			d.Log.InfoContext(ctx, "swept deleted sessions", "logs", swept)
			return err
		}
	})
}
