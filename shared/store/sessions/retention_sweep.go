package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// tombstone holds a position of a log that takes no entries any more.
type tombstone struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	Tombstone bool   `dynamodbav:"g"`
}

// idleTries bounds how often one sweep looks at a session that is not at rest.
const idleTries = 5

// SweepRetention deletes the sessions whose retention is over, as their users
// would, and returns how many. It may be stopped and repeated at any point; a
// session that cannot be looked at keeps no other waiting.
func (s *Store) SweepRetention(ctx context.Context) (int, error) {
	return eachShard(ctx, expireShards, expireShard, func(ctx context.Context, shard string) (int, error) {
		return s.sweep(ctx, shard, s.millis(), s.checkIdle)
	})
}

// checkIdle deletes the session of a timer if it is due. One in which something
// happens meanwhile, or whose user has others deleted, is looked at again; what
// does not come to rest waits for the next sweep.
func (s *Store) checkIdle(ctx context.Context, k table.Key) (deleted bool, err error) {
	tries := 0
	return records.ContendedValue(ctx, func() (bool, error) {
		if tries++; tries > idleTries {
			return false, nil
		}
		return s.tryCheckIdle(ctx, k)
	})
}

// tryCheckIdle deletes the session of a timer if it is due, and else moves the
// timer to when it will be. The index may lag, so the timer itself is read.
// table.ErrConditionFailed means that the session is not as it was read.
func (s *Store) tryCheckIdle(ctx context.Context, k table.Key) (deleted bool, err error) {
	var t timer
	if found, err := s.db.Get(ctx, k, &t); err != nil || !found || t.GSK >= activitySK(s.millis(), "") {
		return false, err
	}
	h, at, a, err := s.readSettled(ctx, t.User, t.Session)
	gone := errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
	switch {
	case gone, err == nil && logPK(h.Log) != t.PK:
		return false, s.stopTimer(ctx, &t)
	case err != nil:
		return false, fmt.Errorf("look at session %s: %w", t.Session, err)
	}
	active := max(h.Created, h.lastActivity(), at.time)
	due, again := h.retained().Due(active, s.millis(), a != nil)
	switch {
	case again > 0:
		return false, s.moveTimer(ctx, &t, again)
	case !due: // it is kept for ever
		return false, s.stopTimer(ctx, &t)
	}
	if err := s.removeIdle(ctx, h, at); err != nil {
		return false, fmt.Errorf("delete session %s, which is due: %w", t.Session, err)
	}
	return true, s.purgeInTime(ctx, h.Log)
}

// removeIdle deletes a session unless something has happened in it since it was
// read. The position that the next entry of its log would take is held, so that
// an append either comes before, and the session stays, or finds it gone.
func (s *Store) removeIdle(ctx context.Context, h *header, at head) error {
	idle := table.And(
		h.sameLog(), table.Equal(table.At(headerVersion), h.Version), table.Equal(table.At(headerLastActivity), h.LastActivity),
		table.NotExists(table.At(headerRun)), h.sameSaving(),
	)
	hold := table.Put(tombstone{PK: logPK(h.Log), SK: entrySK(at.next), Tombstone: true}, table.ItemNotExists())
	return s.remove(ctx, h, idle, hold)
}

// moveTimer sets a timer to another time, unless that was done meanwhile.
func (s *Store) moveTimer(ctx context.Context, t *timer, due int64) error {
	to := activitySK(due, t.PK[len(prefixLog):])
	err := s.db.Update(ctx, table.NewKey(t.PK, t.SK), []table.Change{table.Set(table.At(attrGSK), to)}, t.unmoved())
	return records.Ignoring(err, table.ErrConditionFailed)
}

// stopTimer removes a timer whose session is gone, or is kept for ever.
func (s *Store) stopTimer(ctx context.Context, t *timer) error {
	return records.Ignoring(s.db.Delete(ctx, table.NewKey(t.PK, t.SK), t.unmoved()), table.ErrConditionFailed)
}

func (t *timer) unmoved() table.Condition { return table.Equal(table.At(attrGSK), t.GSK) }
