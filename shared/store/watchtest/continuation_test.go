package watchtest_test

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
)

// takeOver has a worker claim the active run, whose lease has expired since, and
// another one continue it: an item in progress is then final.
func (w *watching) takeOver(ctx context.Context, _ *rapid.T) error {
	if w.active == nil || w.active.Continuation > 0 {
		return nil
	}
	w.n++
	then := func() time.Time { return time.Now().Add(-run.Lease - time.Second) }
	claims := run.Claimant{Worker: fmt.Sprint("lost ", w.n), Continuations: func(string) int { return 1 }}
	if _, err := w.store.With(stores.WithClock(then)).Runs.Claim(ctx, *w.active, claims); err != nil {
		return err
	}
	claims.Worker = fmt.Sprint("next ", w.n)
	r, err := w.store.Runs.Claim(ctx, *w.active, claims)
	if err != nil {
		return err
	}
	w.active.Continuation, w.item = r.Continuations, nil
	w.takeovers++
	return nil
}
