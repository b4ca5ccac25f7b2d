package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Save implements task.Store.
func (s *Store) Save(ctx context.Context, t task.Save) (saved task.Task, created bool, err error) {
	err = records.Contended(ctx, func() error {
		h, err := s.header(ctx, t.UserID, t.SessionID)
		if err != nil {
			return err
		}
		if err := s.admitBytes(ctx, h.User); err != nil {
			return err
		}
		newest := s.watchNewest(ctx, h)
		if saved, created, err = s.save(ctx, h, t); err != nil {
			return fmt.Errorf("save task %s: %w", t.Task.ID, s.notFoundIfDeleted(ctx, h, err))
		}
		s.touchActivity(ctx, h, newest, saved.UpdatedTime, !h.recorded)
		return nil
	})
	return saved, created, err
}

// save is one attempt; table.ErrConditionFailed if another save of the same task
// came between.
func (s *Store) save(ctx context.Context, h *header, t task.Save) (task.Task, bool, error) {
	p, err := s.pointer(ctx, h, t.Task.ID)
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

// pointer reads a task's pointer; a task that a fork took over is first copied to
// the fork. Nil means that there is none.
func (s *Store) pointer(ctx context.Context, h *header, id string) (*taskPointer, error) {
	var p taskPointer
	found, err := s.db.Get(ctx, keys.TaskPointerKey(h.Log, id), &p)
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
	ctx context.Context, h *header, t task.Save, was, p *taskPointer,
) (saved task.Task, created bool, err error) {
	var old taskItem
	found, err := s.db.Get(ctx, was.taskKey(), &old)
	if err != nil {
		return task.Task{}, false, err
	}
	if !found && was.Position != p.Position {
		if err := s.movePointer(ctx, h, was, p); err != nil {
			return task.Task{}, false, err
		}
	}
	content := taskBody{UserMessage: t.Task.UserMessage, Bubbles: t.Task.Bubbles, Metadata: t.Task.Metadata}
	if found && !old.Gone && (content.UserMessage == nil || content.Metadata == nil) {
		kept, err := s.readTask(ctx, &old)
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
		content.Invocations = map[string]invocationPosition{}
		for _, id := range t.Invocations {
			content.Invocations[id] = p.Invocations[id]
		}
	}
	next := &taskItem{
		PK: p.PK, SK: p.taskKey().SK, Version: old.Version + 1,
		Created: p.Created, Updated: p.Created, Marker: p.Marker, Gen: h.ForkCount,
		Saved: old.Version + 1, judgement: old.judgement, attribution: h.attribution(),
	}
	if found {
		next.Updated = max(s.millis(), old.Updated)
	}
	w := taskWrite{was: was, now: p, old: &old, next: next}
	if !found {
		w.was, w.old = p, nil
	}
	if err := s.putTask(ctx, h, w, content); err != nil {
		return task.Task{}, false, err
	}
	return content.task(h.id(), p.id(), next), !found || old.Gone, nil
}

// taskWrite replaces one version of a task by the next.
type taskWrite struct {
	was, now  *taskPointer // the same unless the task moves
	old, next *taskItem    // old is nil for the first version
}

// putTask writes the next version of a task.
func (s *Store) putTask(ctx context.Context, h *header, w taskWrite, content taskBody) (err error) {
	kept := false
	if w.old != nil {
		if kept, err = s.keepForForks(ctx, h, w.old); err != nil {
			return err
		}
	}
	if w.next.Body, err = s.content.Pack(ctx, w.next.PK, content, 0); err != nil {
		return err
	}
	switch {
	case w.old == nil:
		err = s.putFirst(ctx, h, w)
	case w.was.Position != w.now.Position:
		err = s.moveTask(ctx, h, w)
	default:
		err = s.replaceTask(ctx, h, w)
	}
	if errors.Is(err, table.ErrConditionFailed) && w.next.Blob != "" {
		err = s.ignoreIfWritten(ctx, w.next, err)
	}
	if err == nil {
		more := kilobytes(w.next.Stored())
		if w.old != nil && !kept {
			more -= kilobytes(w.old.Stored())
		}
		s.countBytes(ctx, h.ofLog(), more)
	}
	switch {
	case err == nil && w.old != nil && !kept:
		s.drop(ctx, w.old)
	case errors.Is(err, table.ErrConditionFailed):
		s.drop(ctx, w.next)
	}
	return h.unmatchable(err)
}

// ignoreIfWritten returns nil if a refused write met itself, because its answer was
// lost, and the error otherwise.
func (s *Store) ignoreIfWritten(ctx context.Context, written *taskItem, taken error) error {
	var stored taskItem
	if _, err := s.db.Get(ctx, written.key(), &stored); err != nil {
		return err
	}
	if stored.Blob == written.Blob {
		return nil
	}
	return taken
}

// drop removes the chunks of a version that is not shown any more.
func (s *Store) drop(ctx context.Context, item *taskItem) {
	if err := s.content.Discard(ctx, item.PK, item.Body); err != nil {
		s.log.WarnContext(ctx, "chunks of a replaced task stay until the session is deleted", "error", err)
	}
}

// putFirst writes a task that has a pointer and no item yet, if the pointer is
// unchanged: a deletion between the two must not leave the item behind.
func (s *Store) putFirst(ctx context.Context, h *header, w taskWrite) error {
	return s.db.Transact(ctx, table.Put(w.next, table.ItemNotExists()),
		table.Check(w.now.key(), w.now.unmoved()), h.stillUnforked())
}

// keepForForks keeps a version for the forks that were made while it was the
// latest, before it is replaced, and reports whether there are any.
func (s *Store) keepForForks(ctx context.Context, h *header, old *taskItem) (bool, error) {
	if old.Gen >= h.ForkCount {
		return false, nil
	}
	kept := *old
	kept.SK = fmt.Sprintf("%s%s#%010d", keys.PrefixKeptTask, old.SK[len(keys.PrefixTask):], h.ForkCount)
	kept.Until, kept.attribution, kept.Expires = h.ForkCount, attribution{}, 0
	if err := s.db.Put(ctx, kept); err != nil {
		return false, fmt.Errorf("keep a task for forks: %w", err)
	}
	return true, nil
}
