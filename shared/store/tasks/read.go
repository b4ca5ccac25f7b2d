package tasks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// Tasks implements task.Store. Tasks change in place, so they are read with strong
// consistency.
func (s *Store) Tasks(ctx context.Context, q task.Query) (task.Page, error) {
	return records.SettledValue(ctx, func() (task.Page, error) {
		h, err := s.sessions.Header(ctx, q.UserID, q.SessionID)
		if err != nil {
			return task.Page{}, err
		}
		page, err := s.tasks(ctx, h, q)
		if err != nil {
			err = fmt.Errorf("read tasks of session %s: %w", q.SessionID, s.sessions.NotFoundIfDeleted(ctx, h, err))
		}
		return page, err
	})
}

func (s *Store) tasks(ctx context.Context, h *sessions.Header, q task.Query) (task.Page, error) {
	epoch, after, err := cutTaskCursor(q.After)
	if err != nil {
		return task.Page{}, err
	}
	if err := sessions.CheckEpoch(h, q.After != "", epoch); err != nil {
		return task.Page{}, err
	}
	view, err := s.View(ctx, h, h.Shown)
	if err != nil {
		return task.Page{}, err
	}
	var page task.Page
	bytes, last := 0, ""
	err = s.VisitTasks(ctx, h, view, after, q.Limit, func(seen TaskSeen) (bool, error) {
		if n := len(page.Tasks); n > 0 && n == q.Limit {
			page.Next = taskCursor(h.Epoch, last)
			return false, nil
		}
		t, visible, err := s.listedTask(ctx, h, view, seen)
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
		err = s.logs.CheckExists(ctx, h.Log)
	}
	return page, err
}

// listedTask returns a task as a list shows it; false for one that was deleted
// concurrently or is unreadable. If its chunks are gone, it has usually been saved
// again.
func (s *Store) listedTask(
	ctx context.Context, h *sessions.Header, view *View, seen TaskSeen,
) (t task.Task, visible bool, err error) {
	for {
		t, err = s.Shown(ctx, h, view, seen)
		if errors.Is(err, records.ErrChunksGone) {
			var now TaskItem
			found, readErr := s.DB.Get(ctx, seen.Item.key(), &now)
			if readErr != nil || !found || now.Gone {
				return task.Task{}, false, readErr
			}
			if now.Blob != seen.Item.Blob {
				seen.Item = &now
				continue
			}
		}
		if errors.Is(err, table.ErrUnreadable) || errors.Is(err, records.ErrChunksGone) {
			s.LeftOut(ctx, seen.Item.key(), err)
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
		return 0, "", fault.Field(fault.InvalidCursor, "cursor", "was not given by this list")
	}
	return epoch, after, nil
}

// Task implements task.Store.
func (s *Store) Task(ctx context.Context, userID, sessionID, taskID string) (task.Task, error) {
	h, err := s.sessions.Header(ctx, userID, sessionID)
	if err != nil {
		return task.Task{}, err
	}
	view, err := s.View(ctx, h, h.Shown)
	if err != nil {
		return task.Task{}, err
	}
	seen, err := s.findShown(ctx, h, view, taskID)
	if err != nil {
		return task.Task{}, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	t, err := s.Shown(ctx, h, view, *seen)
	return t, s.sessions.NotFoundIfDeleted(ctx, h, err)
}

// findShown finds a task that the session shows by its id.
func (s *Store) findShown(
	ctx context.Context, h *sessions.Header, view *View, id string,
) (*TaskSeen, error) {
	_, item, err := s.FindOwn(ctx, h, id)
	switch {
	case err == nil:
		place, _, err := keys.TaskOf(item.SK)
		if err != nil {
			return nil, err
		}
		// The own log numbers its positions as the session does.
		_, shown, err := view.places.At(place)
		if err == nil && (item.Gone || !shown) {
			err = MissingTask()
		}
		if err != nil {
			return nil, err
		}
		return &TaskSeen{Seq: place, Id: id, Item: item}, nil
	case !errors.Is(err, fault.Of(fault.NotFound)) || h.Origin == nil:
		return nil, err
	}
	return s.findInherited(ctx, h, view, id)
}

// errTaskMoved says that a task moved while it was read, or that its first save is
// not complete.
var errTaskMoved = fmt.Errorf("the task is not where its pointer says: %w", retry.ErrAgain)

// FindOwn reads the pointer and item of a task in the session's own log.
func (s *reader) FindOwn(ctx context.Context, h *sessions.Header, taskID string) (p *TaskPointer, item *TaskItem, err error) {
	tries := 0
	err = records.Settled(ctx, func() (err error) {
		tries++
		p, item, err = s.readOwn(ctx, h, taskID)
		if errors.Is(err, errTaskMoved) && tries == artifacts.SettleTries {
			err = MissingTask()
		}
		return err
	})
	return p, item, err
}

// readOwn is one attempt; errTaskMoved if the two do not belong together.
func (s *reader) readOwn(ctx context.Context, h *sessions.Header, taskID string) (*TaskPointer, *TaskItem, error) {
	var p TaskPointer
	found, err := s.DB.Get(ctx, keys.TaskPointerKey(h.Log, taskID), &p)
	switch {
	case err != nil:
		return nil, nil, err
	case !found:
		return nil, nil, MissingTask()
	}
	var item TaskItem
	found, err = s.DB.Get(ctx, p.TaskKey(), &item)
	switch {
	case err != nil:
		return nil, nil, err
	case !found:
		return nil, nil, errTaskMoved
	}
	return &p, &item, nil
}

// View is what a session shows, read as far as its tasks need it.
type View struct {
	log    string
	from   int64 // nothing before it in the session's own log is shown
	places *session.Places
	taken  func() (session.Timeline, error) // what the session shows of what it took over
}

// View returns the view of an outline of a session.
func (s *reader) View(ctx context.Context, h *sessions.Header, outline func() (session.Outline, error)) (*View, error) {
	o, err := outline()
	if err != nil {
		return nil, err
	}
	read := s.sessions.Markers(ctx)
	v := &View{log: h.Log, from: h.Base() + 1, places: o.Places(read)}
	for _, p := range o {
		if p.Log == h.Log {
			v.from = max(v.from, p.Seq)
			break
		}
	}
	v.taken = sync.OnceValues(func() (session.Timeline, error) {
		if h.Base() == 0 {
			return nil, nil
		}
		taken, err := o.Before(h.Base()+1, read)
		if err != nil {
			return nil, err
		}
		return taken.Ranges(read)
	})
	return v, nil
}

// shows reports whether a position of a log is shown. The own log numbers its positions as
// the session does.
func (v *View) shows(log string, position int64) (bool, error) {
	if log == v.log {
		r, shown, err := v.places.At(position)
		return shown && r.Log == log, err
	}
	taken, err := v.taken()
	return taken.Shows(log, position), err
}

// DeleteTask implements task.Store. The task's position stays in the log.
func (s *Store) DeleteTask(ctx context.Context, userID, sessionID, taskID string) error {
	return records.Settled(ctx, func() error {
		h, err := s.sessions.Header(ctx, userID, sessionID)
		if err != nil {
			return err
		}
		newest := s.sessions.CheckOnTop(ctx, h)
		if err := s.deleteTask(ctx, h, taskID); err != nil {
			return fmt.Errorf("delete task %s: %w", taskID, s.sessions.NotFoundIfDeleted(ctx, h, err))
		}
		s.sessions.TouchActivity(ctx, h, newest, s.Millis(), true)
		return nil
	})
}

func (s *Store) deleteTask(ctx context.Context, h *sessions.Header, taskID string) error {
	view, err := s.View(ctx, h, h.Shown)
	if err != nil {
		return err
	}
	if _, err := s.findShown(ctx, h, view, taskID); err != nil {
		return err
	}
	if _, err := s.Pointer(ctx, h, taskID); err != nil { // copies it to the fork if necessary
		return err
	}
	p, item, err := s.FindOwn(ctx, h, taskID)
	if err != nil {
		return err
	}
	kept, err := s.keepForForks(ctx, h, item)
	if err != nil {
		return err
	}
	if err := s.DB.Transact(ctx, table.Delete(p.key(), p.unmoved()), s.vacate(h, p, item), h.StillUnforked()); err != nil {
		return err
	}
	if !kept {
		s.sessions.CountBytes(ctx, h.OfLog(), -usage.Kilobytes(item.Stored()))
		s.drop(ctx, item)
	}
	return nil
}
