package tasks

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// A fork shows the tasks of each log that it reads as they were when that log was forked.
// A fork in between, or the session itself, covers a task that it has changed by an item at
// the same place. Only logs that store tasks are read, each once.

// layer is what a log contributes to the inherited tasks of a session: those at own, the
// ranges of the log itself, and those that cover what it took over.
type layer struct {
	log    string
	own    session.Timeline
	covers session.Timeline
	gen    int64
	id     func(string) string
}

// layers returns the logs that may store tasks on the inherited part of a timeline, the
// oldest first.
func layers(h *sessions.Header, timeline session.Timeline) []layer {
	if len(timeline) == 0 {
		return nil
	}
	ranges := map[string]session.Timeline{}
	for _, r := range timeline {
		ranges[r.Log] = append(ranges[r.Log], r)
	}
	var out []layer
	root := ranges[h.Root()]
	if len(root) > 0 {
		out = append(out, layer{log: h.Root(), own: root, gen: root[0].Gen})
	}
	older := len(root) // how many ranges are of logs older than the one at hand
	for _, l := range slices.Backward(h.Origin.Ancestors()) {
		next := layer{log: l.Log, gen: l.Gen}
		if l.Stores(sessions.TasksOwn) {
			next.own = ranges[l.Log]
		}
		if l.Stores(sessions.TasksCovers) {
			next.covers = timeline[:older].Before(l.Base + 1)
		}
		out, older = append(out, next), older+len(ranges[l.Log])
	}
	if h.StoresTasks(sessions.TasksCovers) {
		out = append(out, layer{log: h.Log, covers: timeline})
	}
	for i, l := range out {
		out[i].id = func(id string) string {
			if l.log == h.Log {
				return id
			}
			return h.InheritedID(l.log, id)
		}
	}
	return slices.DeleteFunc(out, func(l layer) bool { return len(l.own) == 0 && len(l.covers) == 0 })
}

// seq returns where the session shows a position of the layer's log; false for nowhere.
func (l layer) seq(position int64) (int64, bool) {
	for _, r := range l.own {
		if r.Holds(position) {
			return r.Seq + position - r.From, true
		}
	}
	i, _ := slices.BinarySearchFunc(l.covers, position, func(r session.Range, at int64) int { return cmp.Compare(r.Last(), at) })
	return position, i < len(l.covers) && l.covers[i].Seq <= position
}

// window returns the positions of the layer's log that have to be read.
func (l layer) window() taskWindow {
	w := taskWindow{log: l.log, gen: l.gen, from: keys.MaxPosition}
	for _, r := range l.own {
		w.from, w.to = min(w.from, r.From), max(w.to, r.To)
	}
	for _, r := range l.covers {
		w.from, w.to = min(w.from, r.Seq), max(w.to, r.Last())
	}
	return w
}

// visitInherited visits the tasks on the inherited part of a timeline, also those that are gone.
func (s *reader) visitInherited(
	ctx context.Context, h *sessions.Header, timeline session.Timeline, each func(TaskSeen) (bool, error),
) error {
	found, err := s.readInherited(ctx, h, timeline)
	if err != nil {
		return err
	}
	all := make([]TaskSeen, 0, len(found))
	for _, seen := range found {
		all = append(all, seen)
	}
	slices.SortFunc(all, func(a, b TaskSeen) int { return cmp.Compare(a.key(), b.key()) })
	for _, seen := range all {
		if more, err := each(seen); err != nil || !more {
			return err
		}
	}
	return nil
}

// readInherited reads the tasks on the inherited part of a timeline, by their ids.
func (s *reader) readInherited(ctx context.Context, h *sessions.Header, timeline session.Timeline) (map[string]TaskSeen, error) {
	all := layers(h, timeline)
	read := make([]map[string]TaskSeen, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for i, l := range all {
		group.Go(func() (err error) {
			read[i], err = s.readLayer(ctx, l)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := map[string]TaskSeen{}
	for _, layer := range read {
		for id, seen := range layer {
			found[id] = seen
		}
	}
	return found, nil
}

// readLayer reads the tasks of one layer.
func (s *reader) readLayer(ctx context.Context, l layer) (map[string]TaskSeen, error) {
	found := map[string]TaskSeen{}
	err := s.taskItems(ctx, l.window(), func(seen TaskSeen) (bool, error) {
		seq, shown := l.seq(seen.Seq)
		if !shown {
			return true, nil
		}
		seen.Seq, seen.Id = seq, l.id(seen.Id)
		// The place that a task was moved away from has a tombstone.
		if old, ok := found[seen.Id]; !ok || old.Item.Gone || !seen.Item.Gone {
			found[seen.Id] = seen
		}
		return true, nil
	})
	return found, err
}

// findInherited finds a task that a fork took over and has not changed.
func (s *reader) findInherited(
	ctx context.Context, h *sessions.Header, view *View, id string,
) (*TaskSeen, error) {
	if !h.MayInherit(id) {
		return nil, MissingTask()
	}
	timeline, err := view.taken()
	if err != nil {
		return nil, err
	}
	found, err := s.seekInherited(ctx, h, timeline, id)
	if err == nil && found == nil { // it was moved or deleted since, or its id does not say where it is
		found, err = s.pickInherited(ctx, h, timeline, id)
	}
	switch {
	case err == nil && found == nil:
		err = MissingTask()
	case err == nil: // an item that covers it may have been removed
		err = s.logs.CheckExists(ctx, h.Log)
	}
	return found, err
}

// seekInherited finds an inherited task by its pointer in the log that its id names; nil if
// it is not where that says.
func (s *reader) seekInherited(ctx context.Context, h *sessions.Header, timeline session.Timeline, id string) (*TaskSeen, error) {
	log, of, ok := h.TaskOrigin(id)
	if !ok || !slices.ContainsFunc(timeline, func(r session.Range) bool { return r.Log == log }) {
		return nil, nil
	}
	var p TaskPointer
	if found, err := s.DB.Get(ctx, keys.TaskPointerKey(log, of), &p); err != nil || !found {
		return nil, err
	}
	for _, r := range timeline {
		if r.Log == log && r.Holds(p.Position) {
			seq := r.Seq + p.Position - r.From
			return s.pickInherited(ctx, h, timeline.After(seq-1).Before(seq+1), id)
		}
	}
	return nil, nil
}

// pickInherited finds a task among those on the inherited part of a timeline; nil if it is
// not one of them.
func (s *reader) pickInherited(ctx context.Context, h *sessions.Header, timeline session.Timeline, id string) (*TaskSeen, error) {
	all, err := s.readInherited(ctx, h, timeline)
	if seen, ok := all[id]; ok && err == nil && !seen.Item.Gone {
		return &seen, nil
	}
	return nil, err
}

// copyToFork copies a task that a fork took over into the fork, so that changes do
// not affect the source. Nil means that there is no such task.
func (s *Store) copyToFork(ctx context.Context, h *sessions.Header, id string) (*TaskPointer, error) {
	view, err := s.View(ctx, h, h.Inherited) // includes what a rewind has hidden since
	if err != nil {
		return nil, err
	}
	seen, err := s.findInherited(ctx, h, view, id)
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := s.ReadTask(ctx, seen.Item)
	if err != nil {
		return nil, err
	}
	t, err := s.Shown(ctx, h, view, *seen)
	if err != nil {
		return nil, err
	}
	spots := maps.Clone(content.Invocations)
	for name, at := range spots {
		if at.Log == "" {
			at.Log = seen.Item.PK[len(keys.PrefixLog):]
		}
		spots[name] = at
	}
	k := keys.TaskPointerKey(h.Log, id)
	p := TaskPointer{
		PK: k.PK, SK: k.SK, User: h.User, Session: h.ID(), Created: seen.Item.Created,
		Position: seen.Seq, Invocations: spots, CopiedAt: seen.Seq,
		GPK: keys.TaskIndexPK(h.User, id), GSK: keys.ActivitySK(seen.Item.Created, h.ID()),
	}
	if p.Invocations == nil {
		p.Invocations = map[string]InvocationPosition{}
	}
	item := &TaskItem{
		PK: k.PK, SK: p.TaskKey().SK, Version: 1, Created: seen.Item.Created, Updated: seen.Item.Updated, Gen: h.ForkCount,
	}
	if item.Body, err = s.content.Pack(ctx, item.PK, TaskBody{
		UserMessage: t.UserMessage, Bubbles: t.Bubbles, Metadata: t.Metadata, Invocations: spots,
	}, 0); err != nil {
		return nil, err
	}
	if err := s.sessions.NoteTask(ctx, h, p.Position); err != nil {
		return nil, err
	}
	if err := s.DB.Transact(ctx, table.Put(p, table.ItemNotExists()), table.Put(item, table.ItemNotExists())); err != nil {
		return nil, err
	}
	s.sessions.CountBytes(ctx, h.OfLog(), usage.Kilobytes(item.Stored()))
	return &p, nil
}
