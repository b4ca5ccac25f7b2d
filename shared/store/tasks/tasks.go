package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// Save implements task.Store.
func (s *Store) Save(ctx context.Context, t task.Save) (saved task.Task, created bool, err error) {
	err = records.Contended(ctx, func() error {
		h, err := s.sessions.Header(ctx, t.UserID, t.SessionID)
		if err != nil {
			return err
		}
		if err := s.sessions.AdmitBytes(ctx, h.User); err != nil {
			return err
		}
		newest := s.sessions.CheckOnTop(ctx, h)
		if saved, created, err = s.save(ctx, h, t); err != nil {
			return fmt.Errorf("save task %s: %w", t.Task.ID, s.sessions.NotFoundIfDeleted(ctx, h, err))
		}
		s.sessions.TouchActivity(ctx, h, newest, saved.UpdatedTime, !h.Recorded)
		return nil
	})
	return saved, created, err
}

// save is one attempt; table.ErrConditionFailed if another save of the same task
// came between.
func (s *Store) save(ctx context.Context, h *sessions.Header, t task.Save) (task.Task, bool, error) {
	p, err := s.Pointer(ctx, h, t.Task.ID)
	if err != nil {
		return task.Task{}, false, err
	}
	if p == nil {
		return s.createTask(ctx, h, t)
	}
	was := *p
	if err := s.placeTask(ctx, h, t, p); err != nil {
		return task.Task{}, false, err
	}
	return s.updateTask(ctx, h, t, &was, p)
}

// Pointer reads a task's pointer; a task that a fork took over is first copied to
// the fork. Nil means that there is none.
func (s *Store) Pointer(ctx context.Context, h *sessions.Header, id string) (*TaskPointer, error) {
	var p TaskPointer
	found, err := s.DB.Get(ctx, keys.TaskPointerKey(h.Log, id), &p)
	if err != nil {
		return nil, err
	}
	if found {
		return &p, nil
	}
	if h.Origin == nil {
		return nil, nil
	}
	return s.copyToFork(ctx, h, id)
}

// updateTask writes the task at its position, which changes if the task moves. The
// first one to write it has created it.
func (s *Store) updateTask(
	ctx context.Context, h *sessions.Header, t task.Save, was, p *TaskPointer,
) (saved task.Task, created bool, err error) {
	if err := s.sessions.NoteTask(ctx, h, p.Position); err != nil {
		return task.Task{}, false, err
	}
	var old TaskItem
	found, err := s.DB.Get(ctx, was.TaskKey(), &old)
	if err != nil {
		return task.Task{}, false, err
	}
	if !found && was.Position != p.Position {
		if err := s.movePointer(ctx, h, was, p); err != nil {
			return task.Task{}, false, err
		}
	}
	content := TaskBody{UserMessage: t.Task.UserMessage, Bubbles: t.Task.Bubbles, Metadata: t.Task.Metadata}
	if found && !old.Gone && (content.UserMessage == nil || content.Metadata == nil) {
		kept, err := s.ReadTask(ctx, &old)
		if err != nil {
			return task.Task{}, false, err
		}
		if content.UserMessage == nil {
			content.UserMessage = kept.UserMessage
		}
		if content.Metadata == nil {
			content.Metadata = kept.Metadata
		}
	}
	if content.Metadata, err = old.withoutErased(content.Metadata); err != nil {
		return task.Task{}, false, err
	}
	if len(t.Invocations) > 0 {
		content.Invocations = map[string]InvocationPosition{}
		for _, id := range t.Invocations {
			content.Invocations[id] = p.Invocations[id]
		}
	}
	next := &TaskItem{
		PK: p.PK, SK: p.TaskKey().SK, Version: old.Version + 1,
		Created: p.Created, Updated: p.Created, Marker: p.Marker, Gen: h.ForkCount,
		Saved: old.Version + 1, Judgement: old.Judgement, Attribution: h.Attribution(),
	}
	if found {
		next.Updated = max(s.Millis(), old.Updated)
	}
	w := TaskWrite{Was: was, Now: p, Old: &old, Next: next}
	if !found {
		w.Was, w.Old = p, nil
	}
	if err := s.PutTask(ctx, h, w, content); err != nil {
		return task.Task{}, false, err
	}
	return content.task(h.ID(), p.id(), next), !found || old.Gone, nil
}

// TaskWrite replaces one version of a task by the next.
type TaskWrite struct {
	Was, Now  *TaskPointer // the same unless the task moves
	Old, Next *TaskItem    // old is nil for the first version
}

// PutTask writes the next version of a task.
func (s *Store) PutTask(ctx context.Context, h *sessions.Header, w TaskWrite, content TaskBody) (err error) {
	kept := false
	if w.Old != nil {
		if kept, err = s.keepForForks(ctx, h, w.Old); err != nil {
			return err
		}
	}
	if w.Next.Body, err = s.content.Pack(ctx, w.Next.PK, content, 0); err != nil {
		return err
	}
	switch {
	case w.Old == nil:
		err = s.putFirst(ctx, h, w)
	case w.Was.Position != w.Now.Position:
		err = s.moveTask(ctx, h, w)
	default:
		err = s.replaceTask(ctx, h, w)
	}
	if errors.Is(err, table.ErrConditionFailed) && w.Next.Blob != "" {
		err = s.ignoreIfWritten(ctx, w.Next, err)
	}
	if err == nil {
		more := usage.Kilobytes(w.Next.Stored())
		if w.Old != nil && !kept {
			more -= usage.Kilobytes(w.Old.Stored())
		}
		s.sessions.CountBytes(ctx, h.OfLog(), more)
	}
	switch {
	case err == nil && w.Old != nil && !kept:
		s.drop(ctx, w.Old)
	case errors.Is(err, table.ErrConditionFailed):
		s.drop(ctx, w.Next)
	}
	return h.Unmatchable(err)
}

// ignoreIfWritten returns nil if a refused write met itself, because its answer was
// lost, and the error otherwise.
func (s *Store) ignoreIfWritten(ctx context.Context, written *TaskItem, taken error) error {
	var stored TaskItem
	if _, err := s.DB.Get(ctx, written.key(), &stored); err != nil {
		return err
	}
	if stored.Blob == written.Blob {
		return nil
	}
	return taken
}

// drop removes the chunks of a version that is not shown any more.
func (s *Store) drop(ctx context.Context, item *TaskItem) {
	if err := s.content.Discard(ctx, item.PK, item.Body); err != nil {
		s.Log.WarnContext(ctx, "chunks of a replaced task stay until the session is deleted", "error", err)
	}
}

// putFirst writes a task that has a pointer and no item yet, if the pointer is
// unchanged: a deletion between the two must not leave the item behind.
func (s *Store) putFirst(ctx context.Context, h *sessions.Header, w TaskWrite) error {
	return s.DB.Transact(ctx, table.Put(w.Next, table.ItemNotExists()),
		table.Check(w.Now.key(), w.Now.unmoved()), h.StillUnforked())
}

// keepForForks keeps a version for the forks that were made while it was the
// latest, before it is replaced, and reports whether there are any.
func (s *Store) keepForForks(ctx context.Context, h *sessions.Header, old *TaskItem) (bool, error) {
	if old.Gen >= h.ForkCount {
		return false, nil
	}
	kept := *old
	kept.SK = fmt.Sprintf("%s%s#%010d", keys.PrefixKeptTask, old.SK[len(keys.PrefixTask):], h.ForkCount)
	kept.Until, kept.Attribution, kept.Expires = h.ForkCount, eventlog.Attribution{}, 0
	if err := s.DB.Put(ctx, kept); err != nil {
		return false, fmt.Errorf("keep a task for forks: %w", err)
	}
	return true, nil
}

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
