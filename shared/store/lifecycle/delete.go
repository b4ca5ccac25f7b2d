package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// purgeTime is how long a deletion removes items before it leaves the rest to
	// Sweep, well within a request's 29 s.
	purgeTime = 15 * time.Second
	// forksAtOnce is how many forks of a deleted session are read at a time.
	forksAtOnce = 100
)

// tasksDeleted is the tombstone that readers of a log's tasks find after the last
// task.
type tasksDeleted struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
}

// Delete implements session.Store. One transaction removes the header, so that the
// session cannot be found any more, and records the pending removal where requests
// that found it earlier will see it. The log is removed at once if time allows;
// Sweep removes the rest, and what a concurrent append left behind.
func (s *Store) Delete(ctx context.Context, userID, id string) error {
	h, err := records.ContendedValue(ctx, func() (*sessions.Header, error) {
		h, err := s.sessions.Header(ctx, userID, id)
		if err != nil {
			return nil, err
		}
		if err := s.remove(ctx, h, h.Depart(h.SameLog())); err != nil {
			return nil, fmt.Errorf("delete session %s: %w", id, err)
		}
		return h, nil
	})
	if err == nil {
		err = s.sessions.EndDeletion(ctx, h)
	}
	if err != nil {
		return err
	}
	return s.purgeInTime(ctx, h.Log)
}

// deleteWrites returns the writes that belong to a session's deletion.
func (s *Store) deleteWrites(ctx context.Context, h *sessions.Header) ([]table.Write, error) {
	var writes []table.Write
	if h.Retention > 0 {
		writes = append(writes, table.Delete(keys.TimerKey(h.Log)))
	}
	for _, d := range s.dependents {
		writes = append(writes, d.Deleting(Deletion{Session: h.Ref(), Made: max(h.Created, h.Imported), KeyedBy: h.KeyedBy})...)
	}
	count, counts, err := s.sessions.CountDeleted(ctx, h)
	if counts {
		writes = append(writes, count)
	}
	return writes, err
}

// remove is the transaction that deletes a session; header is what becomes of its header and
// what is written along with it.
func (s *Store) remove(ctx context.Context, h *sessions.Header, header ...table.Write) error {
	k, fenced, now := keys.DeletedKey(h.Log), keys.TasksDeletedKey(h.Log), s.Millis()
	along, err := s.deleteWrites(ctx, h)
	if err != nil {
		return err
	}
	writes := append(header,
		table.Put(sessions.DeletedLog{
			PK: k.PK, SK: k.SK, Created: h.Created, Origin: h.Origin,
			GPK: keys.GpkDeleted, GSK: keys.ActivitySK(now, h.Log), Deleted: now, Attribution: h.Attribution().By(nil),
		}),
		table.Put(tasksDeleted{PK: fenced.PK, SK: fenced.SK}),
	)
	return s.DB.Transact(ctx, append(writes, along...)...)
}

func (s *Store) purgeInTime(ctx context.Context, log string) error {
	limited, cancel := context.WithTimeout(ctx, purgeTime)
	defer cancel()
	if _, err := s.purge(limited, log, s.clearKeepingPositions); err != nil {
		if limited.Err() == nil {
			s.Log.WarnContext(ctx, "a deleted log waits to be swept", "log", log, "error", err)
		}
	}
	return ctx.Err()
}

// purge removes everything in a log's partition except the record of the pending
// removal, and releases the log that it was forked from. While forks read the log
// it stays, and purge only ends its subscriptions and shares. It returns the record as it
// was before.
func (s *Store) purge(
	ctx context.Context, log string, clearing func(context.Context, string) error,
) (duty sessions.DeletedLog, err error) {
	for _, d := range s.dependents {
		if err := d.ForgetLog(ctx, log); err != nil {
			return duty, err
		}
	}
	held, err := s.suspendDeletion(ctx, log)
	if err != nil || held {
		return duty, err
	}
	found, err := s.DB.Get(ctx, keys.DeletedKey(log), &duty)
	if err != nil {
		return duty, err
	}
	if err := clearing(ctx, log); err != nil || !found || duty.Origin == nil {
		return duty, err
	}
	return duty, s.ReleaseSource(ctx, duty.Origin.Log, log)
}

// suspendDeletion takes a pending removal out of the index while forks read the
// log. It does so before it counts the forks, so that a fork that is deleted
// concurrently either is not counted or finds the record and puts it back.
func (s *Store) suspendDeletion(ctx context.Context, log string) (held bool, err error) {
	read, err := s.isRead(ctx, log)
	if err != nil || !read {
		return false, err
	}
	hide := []table.Change{table.Remove(table.Path{keys.AttrGPK}), table.Remove(table.Path{keys.AttrGSK})}
	err = s.DB.Update(ctx, keys.DeletedKey(log), hide, table.ItemExists())
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		return false, err
	}
	if read, err = s.isRead(ctx, log); err != nil || read {
		return true, err
	}
	return false, s.resumeDeletion(ctx, log)
}

// isRead reports whether forks read a deleted session's log, and looks for one. It removes
// the records that it meets of forks that were never stored, and now never will be: a fork is
// stored only while its source exists.
func (s *Store) isRead(ctx context.Context, log string) (read bool, err error) {
	q := records.Prefix(keys.LogPK(log), keys.PrefixChild, true)
	q.Limit = forksAtOnce
	err = s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		children := make([]history.Child, len(page))
		for i, item := range page {
			if err := table.Decode(item, &children[i]); err != nil {
				return false, fmt.Errorf("unmarshal a fork: %w", err)
			}
		}
		stored, err := s.stored(ctx, children)
		if err != nil {
			return false, err
		}
		var never []table.Item
		for _, c := range children {
			if stored[c.Log()] {
				read = true
			} else {
				never = append(never, table.NewKey(c.PK, c.SK).Item())
			}
		}
		return !read, s.DB.DeleteItems(ctx, never)
	})
	return read, err
}

// IsStored reports whether a fork exists, or is being deleted, and not only the record
// of it that is written before. An unreadable one exists.
func (s *Store) IsStored(ctx context.Context, c *history.Child) (bool, error) {
	stored, err := s.stored(ctx, []history.Child{*c})
	return stored[c.Log()], err
}

// stored is IsStored for several forks, by their logs.
func (s *Store) stored(ctx context.Context, children []history.Child) (map[string]bool, error) {
	out, wanted := map[string]bool{}, map[table.Key]bool{}
	for _, c := range children {
		wanted[keys.SessionKey(c.Session)] = true
	}
	items, err := s.DB.BatchGet(ctx, slices.Collect(maps.Keys(wanted)), true)
	if err != nil {
		return nil, err
	}
	headers := map[string]table.Item{}
	for _, item := range items {
		headers[table.Text(item, table.PK)] = item
	}
	var others []table.Key
	for _, c := range children {
		item := headers[keys.SessionKey(c.Session).PK]
		log := table.Text(item, sessions.HeaderLog)
		out[c.Log()] = item != nil && !sessions.Departed(item) && (log == "" || log == c.Log())
		if !out[c.Log()] {
			others = append(others, keys.DeletedKey(c.Log()))
		}
	}
	left, err := s.DB.BatchGet(ctx, others, true)
	for _, item := range left {
		out[strings.TrimPrefix(table.Text(item, table.PK), keys.PrefixLog)] = true
	}
	return out, err
}

// resumeDeletion puts the pending removal of a log, if there is one, into the
// index.
func (s *Store) resumeDeletion(ctx context.Context, log string) error {
	err := s.sessions.SweepLater(ctx, log, table.ItemExists())
	return records.Ignoring(err, table.ErrConditionFailed) // its session exists
}

// ReleaseSource ends a fork's use of the log it came from, and clears that log if
// its session is deleted and this was the last of its forks.
func (s *Store) ReleaseSource(ctx context.Context, parent, log string) error {
	if err := s.DB.DeleteItems(ctx, []table.Item{table.NewKey(keys.LogPK(parent), keys.PrefixChild+log).Item()}); err != nil {
		return err
	}
	var duty sessions.DeletedLog
	found, err := s.DB.Get(ctx, keys.DeletedKey(parent), &duty)
	if err != nil || !found {
		return err
	}
	if duty.GPK == "" {
		if err := s.resumeDeletion(ctx, parent); err != nil {
			return err
		}
	}
	_, err = s.purge(ctx, parent, s.clearKeepingPositions)
	return err
}

// Sweep clears the logs of sessions that were deleted sweep.Grace ago, and returns
// how many. It may be interrupted and repeated at any point.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	due := s.Now().Add(-sweep.Grace).UnixMilli()
	return sweep.Due(ctx, s.Base, keys.GpkDeleted, due, func(ctx context.Context, k table.Key) (bool, error) {
		log := strings.TrimPrefix(k.PK, keys.PrefixLog)
		duty, err := s.purge(ctx, log, s.sessions.ClearLog)
		if err != nil {
			return false, fmt.Errorf("sweep a log: %w", err)
		}
		for _, d := range s.dependents {
			if err := d.SweepLog(ctx, log); err != nil {
				return false, fmt.Errorf("sweep what goes with a log: %w", err)
			}
		}
		return s.completeDeletion(ctx, log, duty)
	})
}

// completeDeletion deletes the record of a pending removal, unless forks still read
// the log or it is to be swept again.
func (s *Store) completeDeletion(ctx context.Context, log string, duty sessions.DeletedLog) (bool, error) {
	if duty.GSK == "" {
		return false, nil
	}
	if duty.Session != "" { // not that of an import
		if err := s.sessions.ForgetHeader(ctx, duty.Session, log); err != nil {
			return false, err
		}
	}
	err := s.DB.Delete(ctx, keys.DeletedKey(log), table.Equal(table.Path{keys.AttrGSK}, duty.GSK))
	if errors.Is(err, table.ErrConditionFailed) {
		return false, nil
	}
	return err == nil, err
}
