package tasks

import (
	"cmp"
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// TaskSeen is a task at the position at which a session shows it.
type TaskSeen struct {
	Seq  int64
	Id   string
	Item *TaskItem
}

func (t TaskSeen) key() string { return keys.TaskKey("", t.Seq, t.Id).SK }

// VisitTasks visits the tasks that a session shows in order, after a key, until visit
// returns false. Limit, if not 0, is how many will be needed.
func (s *reader) VisitTasks(
	ctx context.Context, h *sessions.Header, view *View, after string, limit int,
	visit func(TaskSeen) (bool, error),
) error {
	inherited, err := view.taken()
	if err != nil {
		return err
	}
	more := true
	each := func(seen TaskSeen) (bool, error) {
		var err error
		if seen.key() > after && !seen.Item.Gone {
			more, err = visit(seen)
		}
		return more, err
	}
	if err := s.visitInherited(ctx, h, inherited.After(seqOf(after)-1), each); err != nil || !more {
		return err
	}
	return s.visitOwn(ctx, h, view, after, limit, each)
}

// seqOf returns the position in the key of a task, 0 without one.
func seqOf(key string) int64 {
	seq, _, err := keys.TaskOf(key)
	if err != nil {
		return 0
	}
	return seq
}

// visitOwn visits the tasks that the session shows of its own log.
func (s *reader) visitOwn(
	ctx context.Context, h *sessions.Header, view *View, after string, limit int,
	each func(TaskSeen) (bool, error),
) error {
	q := taskWindow{log: h.Log, from: view.from, after: after, limit: limit, prepare: view.places.Unfold}
	return s.taskItems(ctx, q, func(seen TaskSeen) (bool, error) {
		if seen.Item.Marker > h.Marker {
			// Items may still name a marker of the log that their session was forked from.
			if head, err := s.logs.ReadHead(ctx, h.OfLog()); err != nil || head.LastMarker > h.Marker {
				return false, cmp.Or(err, eventlog.ErrRewound)
			}
		}
		if shown, err := view.shows(h.Log, seen.Seq); err != nil || !shown {
			return err == nil, err
		}
		return each(seen)
	})
}

// taskWindow selects the tasks at the positions from to to of a log, 0 for its
// head: as they are now, or with gen as the fork of that generation sees them.
type taskWindow struct {
	log      string
	from, to int64
	gen      int64
	after    string
	limit    int
	prepare  func(positions []int64) error // is told of a page before it is visited; nil for nothing
}

func (s *reader) taskItems(ctx context.Context, w taskWindow, visit func(TaskSeen) (bool, error)) error {
	if w.gen > 0 {
		return s.taskItemsAsOf(ctx, w, visit)
	}
	return s.taskQuery(ctx, w, keys.PrefixTask, visit)
}

// taskItemsAsOf visits the tasks that a fork sees: those that have not changed
// since, and the kept versions of the others.
func (s *reader) taskItemsAsOf(ctx context.Context, w taskWindow, visit func(TaskSeen) (bool, error)) error {
	found := map[string]TaskSeen{} // by place and id: a task that moved may have a tombstone elsewhere
	for _, prefix := range []string{keys.PrefixTask, keys.PrefixKeptTask} {
		err := s.taskQuery(ctx, w, prefix, func(seen TaskSeen) (bool, error) {
			item := seen.Item
			if item.Gen < w.gen && (item.Until == 0 || w.gen <= item.Until) {
				if old, ok := found[seen.key()]; !ok || old.Item.Until == 0 || item.Until < old.Item.Until {
					found[seen.key()] = seen
				}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for _, seen := range found {
		if more, err := visit(seen); err != nil || !more {
			return err
		}
	}
	return nil
}

func (s *reader) taskQuery(
	ctx context.Context, w taskWindow, prefix string, visit func(TaskSeen) (bool, error),
) error {
	begin, end := max(prefix+keys.Pad(w.from), next(w.after)), prefix+"~"
	if w.to > 0 {
		end = prefix + keys.Pad(w.to) + "$" // "$" comes right after "#"
	}
	if begin > end {
		return nil
	}
	q := records.Range(keys.LogPK(w.log), begin, end, true)
	if w.limit > 0 {
		q.Limit = w.limit + 1
	}
	return s.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
		if err := w.prepareFor(items); err != nil {
			return false, err
		}
		for _, attrs := range items {
			if table.Text(attrs, table.SK) == keys.SkTasksDeleted {
				return false, eventlog.MissingSession()
			}
			var item TaskItem
			err := table.Decode(attrs, &item)
			seq, id, keyErr := keys.TaskOf(item.SK)
			if err = errors.Join(err, keyErr); err != nil {
				s.LeftOut(ctx, records.KeyOf(attrs), err)
				continue
			}
			if more, err := visit(TaskSeen{Seq: seq, Id: id, Item: &item}); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

func (w taskWindow) prepareFor(items []table.Item) error {
	if w.prepare == nil {
		return nil
	}
	var positions []int64
	for _, attrs := range items {
		if seq, _, err := keys.TaskOf(table.Text(attrs, table.SK)); err == nil {
			positions = append(positions, seq)
		}
	}
	return w.prepare(positions)
}

// next returns the least key after a key.
func next(key string) string {
	if key == "" {
		return ""
	}
	return key + "\x00"
}
