package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// queueGrace is how long after its latest change a queue is left to the function that
// follows the table's stream.
const queueGrace = 10 * time.Second

// SweepQueues calls start for each session with queued starts and returns how many
// runs began. Start reports whether it began one; it must do nothing while a run is
// active.
func (s *Store) SweepQueues(
	ctx context.Context, start func(ctx context.Context, userID, sessionID string) (bool, error),
) (int, error) {
	return sweep.EachShard(ctx, queueShards, queueShard, func(ctx context.Context, shard string) (int, error) {
		return sweep.Due(ctx, s.Base, shard, s.Millis()-queueGrace.Milliseconds(), func(ctx context.Context, k table.Key) (bool, error) {
			return s.sweepQueue(ctx, k, start)
		})
	})
}

// sweepQueue visits one queue. The rest of one whose session is deleted while forks
// keep its log is removed.
func (s *Store) sweepQueue(
	ctx context.Context, k table.Key, start func(ctx context.Context, userID, sessionID string) (bool, error),
) (bool, error) {
	var item QueueItem
	if found, err := s.DB.Get(ctx, k, &item); err != nil || !found || item.GPK == "" {
		return false, err
	}
	h, err := s.sessions.Header(ctx, item.User, item.Session)
	gone := errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
	switch {
	case gone, err == nil && keys.LogPK(h.Log) != item.PK:
		return false, records.Ignoring(s.DB.Delete(ctx, k, table.Equal(table.Path{attrQueueVersion}, item.Version)), table.ErrConditionFailed)
	case err != nil:
		return false, fmt.Errorf("check the queue of session %s: %w", item.Session, err)
	case h.Queued == 0:
		return false, nil
	}
	return start(ctx, item.User, item.Session)
}
