package sessions

import (
	"context"
	"maps"
	"time"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/store/table"
)

// A fork shows tasks as they were when it was made, although they change in place
// and, at half the price, without a transaction. So a save announces in the header
// which version it is about to replace, and a fork changes that version's number in
// its own transaction: a later save then fails, starts again and keeps the version
// that the fork shows.

const (
	// savingTime is longer than a request takes: saves announced earlier have
	// ended.
	savingTime = time.Minute
	// savingMost is how many saves the header names at most. One more save is a
	// transaction with the header.
	savingMost = 4
)

// saving announces the replacement of a task's version, or of an earlier one.
type saving struct {
	Time    int64 `dynamodbav:"t"` // epoch milliseconds
	Version int64 `dynamodbav:"v"`
}

// lastActivity returns the time of the last activity without a log entry.
func (h *header) lastActivity() int64 {
	last := h.LastActivity
	for _, a := range h.Saving {
		last = max(last, a.Time)
	}
	return last
}

// savesUnderWay returns the announced saves that may not have ended.
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

// replaceTask replaces the previous version of a task.
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

// announce records in the header that a task is about to be replaced, unless too
// many are recorded. The same write counts the save as an activity of the session.
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
	if err := s.db.Update(ctx, keys.SessionKey(h.id()), changes, h.unforked(), h.sameSaving()); err != nil {
		return false, err
	}
	h.Saving, h.recorded = next, true
	return true, nil
}

// invalidatePendingSaves changes the version numbers of tasks that announced saves
// would replace, if they were not replaced yet.
func (s *Store) invalidatePendingSaves(ctx context.Context, source *header) ([]table.Write, error) {
	var writes []table.Write
	for id, a := range source.savesUnderWay(s.millis()) {
		var p taskPointer
		found, err := s.db.Get(ctx, keys.TaskPointerKey(source.Log, id), &p)
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
