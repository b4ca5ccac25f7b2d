package cost

import (
	"context"

	"github.com/rethread/rethread/shared/domain/run"
)

// sweeps measures a tick of the sweeper that finds nothing to do.
func (m *measurement) sweeps(ctx context.Context) error {
	const most = 7.5 // of 15 lists, half a unit each
	return m.measure(Sweep, most, 0, func() error {
		for _, chore := range []func(context.Context) (int, error){
			func(ctx context.Context) (int, error) {
				return m.store.Runs.Expire(ctx, func(context.Context, run.Ref) error { return nil })
			},
			func(ctx context.Context) (int, error) {
				return m.store.Runs.SweepQueues(ctx, func(context.Context, string, string) (bool, error) { return false, nil })
			},
			m.store.Lifecycle.SweepRetention, m.store.Archives.SweepImports, m.store.Lifecycle.SweepErasures, m.store.Lifecycle.Sweep,
		} {
			if _, err := chore(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
