package tasks

import (
	"context"
	"maps"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// A fork shows tasks as they were when it was made, although they change in place
// and, at half the price, without a transaction. So a save announces in the header
// which version it is about to replace, and a fork changes that version's number in
// its own transaction: a later save then fails, starts again and keeps the version
// that the fork shows.

// savingMost is how many saves the header names at most. One more save is a
// transaction with the header.
const maxSaving = 4

// savesUnderWay returns the announced saves that may not have ended.
func savesUnderWay(h *sessions.Header, now int64) map[string]sessions.Saving {
	out := maps.Clone(h.Saving)
	maps.DeleteFunc(out, func(_ string, a sessions.Saving) bool { return a.Time < now-eventlog.SavingTime.Milliseconds() })
	return out
}

// SameSaving is the condition that nothing was announced since the header was read.
func SameSaving(h *sessions.Header) table.Condition {
	if len(h.Saving) == 0 {
		return table.NotExists(table.Path{sessions.HeaderSaving})
	}
	return table.Equal(table.Path{sessions.HeaderSaving}, h.Saving)
}

// replaceTask replaces the previous version of a task.
func (s *Store) replaceTask(ctx context.Context, h *sessions.Header, w TaskWrite) error {
	announced, err := s.announce(ctx, h, w)
	if err != nil {
		return err
	}
	if announced {
		return s.DB.Put(ctx, w.Next, w.Old.SameVersion())
	}
	return s.DB.Transact(ctx, table.Put(w.Next, w.Old.SameVersion()), h.StillUnforked())
}

// announce records in the header that a task is about to be replaced, unless too
// many are recorded. The same write counts the save as an activity of the session.
func (s *Store) announce(ctx context.Context, h *sessions.Header, w TaskWrite) (bool, error) {
	now, id := s.Millis(), w.Now.id()
	next := savesUnderWay(h, now)
	if _, again := next[id]; !again && len(next) >= maxSaving {
		return false, nil
	}
	if next == nil {
		next = map[string]sessions.Saving{}
	}
	next[id] = sessions.Saving{Time: now, Version: max(w.Old.Version, next[id].Version)}
	changes := []table.Change{table.Set(table.Path{sessions.HeaderSaving}, next)}
	if err := s.DB.Update(ctx, keys.SessionKey(h.ID()), changes, h.Unforked(), SameSaving(h)); err != nil {
		return false, err
	}
	h.Saving, h.Recorded = next, true
	return true, nil
}

// InvalidatePendingSaves changes the version numbers of tasks that announced saves
// would replace, if they were not replaced yet.
func (s *Store) InvalidatePendingSaves(ctx context.Context, source *sessions.Header) ([]table.Write, error) {
	var writes []table.Write
	for id, a := range savesUnderWay(source, s.Millis()) {
		var p TaskPointer
		found, err := s.DB.Get(ctx, keys.TaskPointerKey(source.Log, id), &p)
		if err != nil {
			return nil, err
		}
		var item TaskItem
		if found {
			if found, err = s.DB.Get(ctx, p.TaskKey(), &item); err != nil {
				return nil, err
			}
		}
		if !found || item.Version > a.Version {
			continue
		}
		another := []table.Change{table.Set(table.Path{taskVersion}, item.Version+1)}
		writes = append(writes, table.Update(item.key(), another, item.SameVersion()))
	}
	return writes, nil
}
