package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// idleTries limits how often one sweep checks a session that keeps changing.
const idleTries = 5

// SweepRetention deletes the sessions whose retention is over, in the same way as
// their users would, and returns how many. It may be interrupted and repeated at
// any point; a session that cannot be checked does not hold up others.
func (s *Store) SweepRetention(ctx context.Context) (int, error) {
	return sweep.EachShard(ctx, sessions.ExpireShards, sessions.ExpireShard, func(ctx context.Context, shard string) (int, error) {
		return sweep.Due(ctx, s.Base, shard, s.Millis(), s.checkIdle)
	})
}

// checkIdle deletes the session of a timer if it is due. It repeats the check if
// the session changes concurrently or other sessions of its user are deleted;
// after idleTries the next sweep continues.
func (s *Store) checkIdle(ctx context.Context, k table.Key) (deleted bool, err error) {
	tries := 0
	return records.ContendedValue(ctx, func() (bool, error) {
		if tries++; tries > idleTries {
			return false, nil
		}
		return s.tryCheckIdle(ctx, k)
	})
}

// tryCheckIdle deletes the session of a timer if it is due, and otherwise moves
// the timer to when it will be. The index may lag, so the timer itself is read.
// table.ErrConditionFailed means that the session has changed since it was read.
func (s *Store) tryCheckIdle(ctx context.Context, k table.Key) (deleted bool, err error) {
	var t sessions.Timer
	if found, err := s.DB.Get(ctx, k, &t); err != nil || !found || t.GSK >= keys.ActivitySK(s.Millis(), "") {
		return false, err
	}
	h, head, a, err := s.runs.ReadSettled(ctx, t.User, t.Session)
	gone := errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
	switch {
	case gone, err == nil && keys.LogPK(h.Log) != t.PK:
		return false, s.stopTimer(ctx, &t)
	case err != nil:
		return false, fmt.Errorf("check session %s: %w", t.Session, err)
	}
	active := max(h.Created, h.ActiveAt(), head.Time)
	due, again := h.Retained().Due(active, s.Millis(), a != nil || h.Queued > 0)
	switch {
	case again > 0:
		return false, s.moveTimer(ctx, &t, again)
	case !due: // its retention is unlimited
		return false, s.stopTimer(ctx, &t)
	}
	if err := s.removeIdle(ctx, h, head); err != nil {
		return false, fmt.Errorf("delete session %s, which is due: %w", t.Session, err)
	}
	return true, s.purgeInTime(ctx, h.Log)
}

// removeIdle deletes a session unless it has changed since it was read. A
// tombstone takes the position of the next log entry, so that a concurrent append
// either is first, and the session stays, or finds the session deleted.
func (s *Store) removeIdle(ctx context.Context, h *sessions.Header, head eventlog.Head) error {
	idle := table.And(
		h.SameLog(), table.Equal(table.Path{sessions.HeaderVersion}, h.Version), table.Equal(table.Path{sessions.HeaderLastActivity}, h.LastActivity),
		table.NotExists(table.Path{sessions.HeaderRun}), records.Unchanged(sessions.HeaderQueueVersion, h.QueueVersion), tasks.SameSaving(h),
	)
	gone := table.Delete(keys.SessionKey(h.ID()), idle, h.SameBytes())
	return s.remove(ctx, h, gone, eventlog.Hold(h.Log, head.Next))
}

// moveTimer moves a timer to another time, unless it was moved concurrently.
func (s *Store) moveTimer(ctx context.Context, t *sessions.Timer, due int64) error {
	to := keys.ActivitySK(due, t.PK[len(keys.PrefixLog):])
	err := s.DB.Update(ctx, table.NewKey(t.PK, t.SK), []table.Change{table.Set(table.Path{keys.AttrGSK}, to)}, unmoved(t))
	return records.Ignoring(err, table.ErrConditionFailed)
}

// stopTimer deletes a timer whose session was deleted or has unlimited retention.
func (s *Store) stopTimer(ctx context.Context, t *sessions.Timer) error {
	return records.Ignoring(s.DB.Delete(ctx, table.NewKey(t.PK, t.SK), unmoved(t)), table.ErrConditionFailed)
}

func unmoved(t *sessions.Timer) table.Condition { return table.Equal(table.Path{keys.AttrGSK}, t.GSK) }
