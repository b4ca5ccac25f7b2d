package runs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// Expire implements run.Store. A run that cannot be handed to a worker prevents no
// other from being handled, and the next call tries again.
func (s *Store) Expire(ctx context.Context, resume func(context.Context, run.Ref) error) (int, error) {
	x := &expiring{s: s, resume: resume}
	n, err := sweep.EachShard(ctx, runShards, runShard, x.shard)
	return n, errors.Join(err, x.failed)
}

// expiring is a sweep of the runs whose leases have expired.
type expiring struct {
	s      *Store
	resume func(context.Context, run.Ref) error

	mu     sync.Mutex
	failed error // the latest failure of resume
}

// shard handles the runs of one index partition. Those of a page are read together,
// since most of them may be alive.
func (x *expiring) shard(ctx context.Context, shard string) (int, error) {
	due := x.s.Millis() - x.s.lease.Milliseconds()
	return sweep.Pages(ctx, x.s.Base, shard, due, func(ctx context.Context, keys []table.Key) sweep.Visit {
		found, err := x.s.DB.BatchGetByKey(ctx, keys, true)
		return func(ctx context.Context, k table.Key) (bool, error) {
			item := found[k]
			if err != nil || item == nil {
				return false, err
			}
			var a ActiveRun
			if err := table.Decode(item, &a); err != nil {
				return false, fmt.Errorf("unmarshal a run: %w", err)
			}
			return x.visit(ctx, &a)
		}
	})
}

func (x *expiring) visit(ctx context.Context, a *ActiveRun) (done bool, err error) {
	switch {
	case a.Lease > x.s.Millis():
		return false, nil
	case x.s.isLost(a):
		return true, x.s.expireOrForget(ctx, a)
	case x.resume == nil:
		return false, nil
	}
	if err := x.resume(ctx, a.ref()); err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.failed = fmt.Errorf("continue run %s: %w", a.ID, err)
		return false, nil
	}
	return true, nil
}

// expireOrForget ends a run, or removes the rest of one whose session is deleted
// while forks keep its log.
func (s *settler) expireOrForget(ctx context.Context, a *ActiveRun) error {
	err := s.expire(ctx, a)
	if !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)) {
		return err
	}
	return s.DB.DeleteItems(ctx, []table.Item{table.NewKey(a.PK, a.SK).Item()})
}
