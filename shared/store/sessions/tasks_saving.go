package sessions

import (
	"context"
	"maps"
	"time"

	"github.com/rethread/rethread/shared/store/table"
)

// A fork shows tasks as they were at its moment, though they change in place
// and, since that is half the price, without a transaction. So a save announces
// in the header which version it is about to replace, and a fork makes that
// version another one in its own transaction: a save that comes after it fails,
// begins anew and keeps the version that the fork shows.

const (
	// savingTime is longer than a request takes: what was announced before has
	// come to its end.
	savingTime = time.Minute
	// savingMost bounds how many tasks the header names. A save that is one too
	// many is a transaction with the header.
	savingMost = 4
)

// saving announces that a version of a task, or one before it, is replaced.
type saving struct {
	Time    int64 `dynamodbav:"t"` // epoch milliseconds
	Version int64 `dynamodbav:"v"`
}

// lastActivity is when an activity last left no trace in the log.
func (h *header) lastActivity() int64 {
	last := h.LastActivity
	for _, a := range h.Saving {
		last = max(last, a.Time)
	}
	return last
}

// savesUnderWay are the announced saves that may not have ended.
func (h *header) savesUnderWay(now int64) map[string]saving {
	out := maps.Clone(h.Saving)
	maps.DeleteFunc(out, func(_ string, a saving) bool { return a.Time < now-savingTime.Milliseconds() })
	return out
}

// sameSaving is the condition that nothing was announced since the header was read.
func (h *header) sameSaving() table.Condition {
	if len(h.Saving) == 0 {
		return table.NotExists(table.At(headerSaving))
	}
	return table.Equal(table.At(headerSaving), h.Saving)
}

// replaceTask writes a version of a task over the one before it.
func (s *Store) replaceTask(ctx context.Context, h *header, w taskWrite) error {
	announced, err := s.announce(ctx, h, w)
	if err != nil {
		return err
	}
	if announced {
		return s.db.Put(ctx, w.next, w.old.sameVersion())
	}
	return s.db.Transact(ctx, table.Put(w.next, w.old.sameVersion()), h.stillUnforked())
}

// announce notes in the header that a task is about to be replaced, unless
// there are too many of those. It is what the save costs to be seen as an
// activity of the session.
func (s *Store) announce(ctx context.Context, h *header, w taskWrite) (bool, error) {
	now, id := s.millis(), w.now.id()
	next := h.savesUnderWay(now)
	if _, again := next[id]; !again && len(next) >= savingMost {
		return false, nil
	}
	if next == nil {
		next = map[string]saving{}
	}
	next[id] = saving{Time: now, Version: max(w.old.Version, next[id].Version)}
	changes := []table.Change{table.Set(table.At(headerSaving), next)}
	if err := s.db.Update(ctx, sessionKey(h.id()), changes, h.unforked(), h.sameSaving()); err != nil {
		return false, err
	}
	h.Saving, h.announced = next, true
	return true, nil
}

// invalidatePendingSaves makes the versions of tasks that announced saves would replace
// other ones, where they were not replaced yet.
func (s *Store) invalidatePendingSaves(ctx context.Context, source *header) ([]table.Write, error) {
	var writes []table.Write
	for id, a := range source.savesUnderWay(s.millis()) {
		var p taskPointer
		found, err := s.db.Get(ctx, taskPointerKey(source.Log, id), &p)
		if err != nil {
			return nil, err
		}
		var item taskItem
		if found {
			if found, err = s.db.Get(ctx, p.taskKey(), &item); err != nil {
				return nil, err
			}
		}
		if !found || item.Version > a.Version {
			continue
		}
		another := []table.Change{table.Set(table.At(taskVersion), item.Version+1)}
		writes = append(writes, table.Update(item.key(), another, item.sameVersion()))
	}
	return writes, nil
}
