package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// taskSeen is a task at the position at which a session shows it.
type taskSeen struct {
	seq  int64
	id   string
	item *taskItem
}

func (t taskSeen) key() string { return keys.TaskKey("", t.seq, t.id).SK }

// lineage is a fork between a log that a session reads and the session itself: it
// may have changed what it took over.
type lineage struct {
	Log  string `dynamodbav:"l"`
	Gen  int64  `dynamodbav:"g"`
	Base int64  `dynamodbav:"n"`
	From string `dynamodbav:"f"` // the log that it was forked from
	At   int64  `dynamodbav:"at"`
}

// visitTasks visits the tasks on a timeline in order, after a key, until visit
// returns false. Limit, if not 0, is how many will be needed.
func (s *Store) visitTasks(
	ctx context.Context, h *header, timeline session.Timeline, after string, limit int,
	visit func(taskSeen) (bool, error),
) error {
	for _, part := range byLog(timeline) {
		first, last := part[0], part[len(part)-1]
		if end := last.Last(); end > 0 && keys.TaskKey("", end+1, "").SK <= after {
			continue
		}
		var err error
		more := true
		each := func(seen taskSeen) (bool, error) {
			if seen.key() > after && !seen.item.Gone {
				more, err = visit(seen)
			}
			return more, err
		}
		if first.Log == h.Log {
			err = s.visitOwn(ctx, h, part, after, limit, each)
		} else {
			err = s.visitInherited(ctx, h, first, each)
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// byLog joins consecutive ranges of the same log: one query reads them, and hidden
// positions in between are left out.
func byLog(timeline session.Timeline) []session.Timeline {
	var out []session.Timeline
	for _, r := range timeline {
		if n := len(out) - 1; n >= 0 && r.Gen == 0 && out[n][0].Log == r.Log {
			out[n] = append(out[n], r)
			continue
		}
		out = append(out, session.Timeline{r})
	}
	return out
}

// visitOwn visits the tasks in ranges of the session's own log.
func (s *Store) visitOwn(
	ctx context.Context, h *header, part session.Timeline, after string, limit int,
	each func(taskSeen) (bool, error),
) error {
	q := taskWindow{log: h.Log, from: part[0].From, to: part[len(part)-1].To, after: after, limit: limit}
	return s.taskItems(ctx, q, func(seen taskSeen) (bool, error) {
		if seen.item.Marker > h.Marker {
			// Items may still name a marker of the log that their session was forked from.
			if at, err := s.readHead(ctx, h.ofLog()); err != nil || at.lastMarker > h.Marker {
				return false, cmp.Or(err, errRewound)
			}
		}
		if !part.Shows(h.Log, seen.seq) {
			return true, nil
		}
		return each(seen)
	})
}

// visitInherited visits the tasks that a fork took over in one range: those of that log
// as they were when it was forked, covered by the items of the forks in between,
// and of this one.
func (s *Store) visitInherited(
	ctx context.Context, h *header, r session.Range, each func(taskSeen) (bool, error),
) error {
	found := map[string]taskSeen{}
	take := func(w taskWindow, seq func(int64) int64, id func(string) string) error {
		here := map[string]bool{} // whether this log has the task at some place
		return s.taskItems(ctx, w, func(seen taskSeen) (bool, error) {
			seen.seq, seen.id = seq(seen.seq), id(seen.id)
			if seen.item.Gone && here[seen.id] { // the tombstone of the place that it was moved away from
				return true, nil
			}
			found[seen.id], here[seen.id] = seen, !seen.item.Gone
			return true, nil
		})
	}
	same := func(seq int64) int64 { return seq }
	if err := take(taskWindow{log: r.Log, from: r.From, to: r.To, gen: r.Gen},
		func(position int64) int64 { return r.Seq + position - r.From },
		func(id string) string { return h.inheritedID(r.Log, id) }); err != nil {
		return err
	}
	for _, l := range slices.Backward(h.Origin.Lineage) {
		if l.Log == r.Log {
			continue
		}
		if l.Base >= r.Seq && h.under(l.Log, r.Log) {
			if err := take(taskWindow{log: l.Log, from: r.Seq, to: min(r.Last(), l.Base), gen: l.Gen}, same,
				func(id string) string { return h.inheritedID(l.Log, id) }); err != nil {
				return err
			}
		}
	}
	if err := take(taskWindow{log: h.Log, from: r.Seq, to: r.Last()}, same,
		func(id string) string { return id }); err != nil {
		return err
	}
	all := make([]taskSeen, 0, len(found))
	for _, seen := range found {
		all = append(all, seen)
	}
	slices.SortFunc(all, func(a, b taskSeen) int { return cmp.Compare(a.key(), b.key()) })
	for _, seen := range all {
		if more, err := each(seen); err != nil || !more {
			return err
		}
	}
	return nil
}

// under reports whether a fork of the lineage is nearer to this session than the
// session of a log, that is, whether it took over from that log.
func (h *header) under(fork, log string) bool {
	for _, l := range h.Origin.Lineage { // nearest first
		switch l.Log {
		case fork:
			return true
		case log:
			return false
		}
	}
	return false
}

// inheritedID returns the id that a task of a log in the lineage has in this session:
// each fork in between gave it another.
func (h *header) inheritedID(log, id string) string {
	for _, l := range slices.Backward(h.Origin.Lineage) {
		if h.under(l.Log, log) && l.Log != log {
			id = forkedTaskID(l.Log, id)
		}
	}
	return forkedTaskID(h.Log, id)
}

// taskWindow selects the tasks at the positions from to to of a log, 0 for its
// head: as they are now, or with gen as the fork of that generation sees them.
type taskWindow struct {
	log      string
	from, to int64
	gen      int64
	after    string
	limit    int
}

func (s *Store) taskItems(ctx context.Context, w taskWindow, visit func(taskSeen) (bool, error)) error {
	if w.gen > 0 {
		return s.taskItemsAsOf(ctx, w, visit)
	}
	return s.taskQuery(ctx, w, keys.PrefixTask, visit)
}

// taskItemsAsOf visits the tasks that a fork sees: those that have not changed
// since, and the kept versions of the others.
func (s *Store) taskItemsAsOf(ctx context.Context, w taskWindow, visit func(taskSeen) (bool, error)) error {
	found := map[string]taskSeen{} // by place and id: a task that moved may have a tombstone elsewhere
	for _, prefix := range []string{keys.PrefixTask, keys.PrefixKeptTask} {
		err := s.taskQuery(ctx, w, prefix, func(seen taskSeen) (bool, error) {
			item := seen.item
			if item.Gen < w.gen && (item.Until == 0 || w.gen <= item.Until) {
				if old, ok := found[seen.key()]; !ok || old.item.Until == 0 || item.Until < old.item.Until {
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

func (s *Store) taskQuery(
	ctx context.Context, w taskWindow, prefix string, visit func(taskSeen) (bool, error),
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
	return s.db.Pages(ctx, q, func(items []table.Item) (bool, error) {
		for _, attrs := range items {
			if table.Text(attrs, table.SK) == keys.SkTasksDeleted {
				return false, missingSession()
			}
			var item taskItem
			err := table.Decode(attrs, &item)
			seq, id, keyErr := keys.TaskOf(item.SK)
			if err = errors.Join(err, keyErr); err != nil {
				s.Base().LeftOut(ctx, records.KeyOf(attrs), err)
				continue
			}
			if more, err := visit(taskSeen{seq: seq, id: id, item: &item}); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// next returns the least key after a key.
func next(key string) string {
	if key == "" {
		return ""
	}
	return key + "\x00"
}
