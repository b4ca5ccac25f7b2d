// Command sweeper runs on a schedule and completes interrupted work: deletions of
// sessions, abandoned imports, erasures, and runs whose workers died. It deletes
// the sessions whose retention period has ended.
package main

import (
	"context"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/invoke"
)

func main() {
	boot.Start(func(d boot.Deps) (any, error) {
		return boot.Sweeper([]boot.Chore{ // short ones come first
			{Name: "runs", Do: expireRuns(d)},
			{Name: "queues", Do: startQueues(d)},
			{Name: "sessions", Do: d.Store.Lifecycle.SweepRetention},
			{Name: "imports", Do: d.Store.Archives.SweepImports},
			{Name: "erasures", Do: d.Store.Lifecycle.SweepErasures},
			{Name: "logs", Do: d.Store.Lifecycle.Sweep},
		}, d.Log), nil
	})
}

// expireRuns hands runs whose workers were lost to other workers, and ends those
// that may not be continued.
func expireRuns(d boot.Deps) func(context.Context) (int, error) {
	start := invoke.Runner(d)
	return func(ctx context.Context) (int, error) { return d.Store.Runs.Expire(ctx, start) }
}

// startQueues begins the queued runs that the function which follows the table's
// stream has not started.
func startQueues(d boot.Deps) func(context.Context) (int, error) {
	start := invoke.NextQueued(d)
	return func(ctx context.Context) (int, error) { return d.Store.Runs.SweepQueues(ctx, start) }
}
