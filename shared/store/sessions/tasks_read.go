package sessions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Tasks implements task.Store. Tasks change in place, so they are read with strong
// consistency.
func (s *Store) Tasks(ctx context.Context, q task.Query) (task.Page, error) {
	return records.SettledValue(ctx, func() (task.Page, error) {
		h, err := s.header(ctx, q.UserID, q.SessionID)
		if err != nil {
			return task.Page{}, err
		}
		page, err := s.tasks(ctx, h, q)
		if err != nil {
			err = fmt.Errorf("read tasks of session %s: %w", q.SessionID, s.notFoundIfDeleted(ctx, h, err))
		}
		return page, err
	})
}

func (s *Store) tasks(ctx context.Context, h *header, q task.Query) (task.Page, error) {
	epoch, after, err := cutTaskCursor(q.After)
	if err != nil {
		return task.Page{}, err
	}
	if err := checkEpoch(h, q.After != "", epoch); err != nil {
		return task.Page{}, err
	}
	timeline, err := h.timeline()
	if err != nil {
		return task.Page{}, err
	}
	var page task.Page
	bytes, last := 0, ""
	err = s.visitTasks(ctx, h, timeline, after, q.Limit, func(seen taskSeen) (bool, error) {
		if n := len(page.Tasks); n > 0 && n == q.Limit {
			page.Next = taskCursor(h.Epoch, last)
			return false, nil
		}
		t, visible, err := s.listedTask(ctx, h, timeline, seen)
		if err != nil || !visible {
			return err == nil, err
		}
		if bytes += t.Size(); len(page.Tasks) > 0 && bytes > session.PageBytes {
			page.Next = taskCursor(h.Epoch, last)
			return false, nil
		}
		page.Tasks, last = append(page.Tasks, t), seen.key()
		return true, nil
	})
	if err == nil && page.Next != "" { // a reader that reaches the end finds the tombstone
		err = s.checkExists(ctx, h.Log)
	}
	return page, err
}

// listedTask returns a task as a list shows it; false for one that was deleted
// concurrently or is unreadable. If its chunks are gone, it has usually been saved
// again.
func (s *Store) listedTask(
	ctx context.Context, h *header, timeline session.Timeline, seen taskSeen,
) (t task.Task, visible bool, err error) {
	for {
		t, err = s.shown(ctx, h, timeline, seen)
		if errors.Is(err, content.ErrChunksGone) {
			var now taskItem
			found, readErr := s.db.Get(ctx, seen.item.key(), &now)
			if readErr != nil || !found || now.Gone {
				return task.Task{}, false, readErr
			}
			if now.Blob != seen.item.Blob {
				seen.item = &now
				continue
			}
		}
		if errors.Is(err, table.ErrUnreadable) || errors.Is(err, content.ErrChunksGone) {
			s.Base().LeftOut(ctx, seen.item.key(), err)
			return task.Task{}, false, nil
		}
		return t, err == nil, err
	}
}

// A cursor over tasks is the epoch it was read in and the key of the last one.
func taskCursor(epoch int64, last string) string { return fmt.Sprintf("%d|%s", epoch, last) }

func cutTaskCursor(cursor string) (epoch int64, after string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, after, _ := strings.Cut(cursor, "|")
	epoch, err = strconv.ParseInt(number, 10, 64)
	seq, id, keyErr := keys.TaskOf(after)
	if err != nil || keyErr != nil || epoch < 0 || id == "" || taskCursor(epoch, keys.TaskKey("", seq, id).SK) != cursor {
		return 0, "", fault.Field(fault.Malformed, "cursor", "was not given by this list")
	}
	return epoch, after, nil
}

// Task implements task.Store.
func (s *Store) Task(ctx context.Context, userID, sessionID, taskID string) (task.Task, error) {
	h, err := s.header(ctx, userID, sessionID)
	if err != nil {
		return task.Task{}, err
	}
	timeline, err := h.timeline()
	if err != nil {
		return task.Task{}, err
	}
	seen, err := s.findShown(ctx, h, timeline, taskID)
	if err != nil {
		return task.Task{}, s.notFoundIfDeleted(ctx, h, err)
	}
	t, err := s.shown(ctx, h, timeline, *seen)
	return t, s.notFoundIfDeleted(ctx, h, err)
}

// findShown finds a task on the timeline by its id.
func (s *Store) findShown(
	ctx context.Context, h *header, timeline session.Timeline, id string,
) (*taskSeen, error) {
	_, item, err := s.findOwn(ctx, h, id)
	switch {
	case err == nil:
		place, _, err := keys.TaskOf(item.SK)
		if err != nil {
			return nil, err
		}
		// The own log numbers its positions as the session does.
		if !item.Gone && len(timeline.Before(place+1).After(place-1)) > 0 {
			return &taskSeen{seq: place, id: id, item: item}, nil
		}
		return nil, missingTask()
	case !errors.Is(err, fault.Of(fault.NotFound)) || h.Origin == nil:
		return nil, err
	}
	return s.findInherited(ctx, h, timeline, id)
}

// findInherited finds a task that a fork took over and has not changed.
func (s *Store) findInherited(
	ctx context.Context, h *header, timeline session.Timeline, id string,
) (found *taskSeen, err error) {
	err = s.visitTasks(ctx, h, timeline.Before(h.base()+1), "", 0, func(seen taskSeen) (bool, error) {
		if seen.id == id {
			found = &seen
		}
		return found == nil, nil
	})
	switch {
	case err == nil && found == nil:
		err = missingTask()
	case err == nil: // an item that covers it may have been removed
		err = s.checkExists(ctx, h.Log)
	}
	return found, err
}

// errTaskMoved says that a task moved while it was read, or that its first save is
// not complete.
var errTaskMoved = fmt.Errorf("the task is not where its pointer says: %w", retry.ErrAgain)

// findOwn reads the pointer and item of a task in the session's own log.
func (s *Store) findOwn(ctx context.Context, h *header, taskID string) (p *taskPointer, item *taskItem, err error) {
	tries := 0
	err = records.Settled(ctx, func() (err error) {
		tries++
		p, item, err = s.readOwn(ctx, h, taskID)
		if errors.Is(err, errTaskMoved) && tries == settleTries {
			err = missingTask()
		}
		return err
	})
	return p, item, err
}

// readOwn is one attempt; errTaskMoved if the two do not belong together.
func (s *Store) readOwn(ctx context.Context, h *header, taskID string) (*taskPointer, *taskItem, error) {
	var p taskPointer
	found, err := s.db.Get(ctx, keys.TaskPointerKey(h.Log, taskID), &p)
	switch {
	case err != nil:
		return nil, nil, err
	case !found:
		return nil, nil, missingTask()
	}
	var item taskItem
	found, err = s.db.Get(ctx, p.taskKey(), &item)
	switch {
	case err != nil:
		return nil, nil, err
	case !found:
		return nil, nil, errTaskMoved
	}
	return &p, &item, nil
}

// DeleteTask implements task.Store. The task's position stays in the log.
func (s *Store) DeleteTask(ctx context.Context, userID, sessionID, taskID string) error {
	return records.Settled(ctx, func() error {
		h, err := s.header(ctx, userID, sessionID)
		if err != nil {
			return err
		}
		newest := s.watchNewest(ctx, h)
		if err := s.deleteTask(ctx, h, taskID); err != nil {
			return fmt.Errorf("delete task %s: %w", taskID, s.notFoundIfDeleted(ctx, h, err))
		}
		s.touchActivity(ctx, h, newest, s.millis(), true)
		return nil
	})
}

func (s *Store) deleteTask(ctx context.Context, h *header, taskID string) error {
	timeline, err := h.timeline()
	if err != nil {
		return err
	}
	if _, err := s.findShown(ctx, h, timeline, taskID); err != nil {
		return err
	}
	if _, err := s.pointer(ctx, h, taskID); err != nil { // copies it to the fork if necessary
		return err
	}
	p, item, err := s.findOwn(ctx, h, taskID)
	if err != nil {
		return err
	}
	kept, err := s.keepForForks(ctx, h, item)
	if err != nil {
		return err
	}
	if err := s.db.Transact(ctx, table.Delete(p.key(), p.unmoved()), s.vacate(h, p, item), h.stillUnforked()); err != nil {
		return err
	}
	if !kept {
		s.countBytes(ctx, h.ofLog(), -kilobytes(item.Stored()))
		s.drop(ctx, item)
	}
	return nil
}
