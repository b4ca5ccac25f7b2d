package tasks

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// createTask saves a task that has no pointer. A task that names no invocation is one
// itself, which begins with the task unless the log already has it.
func (s *Store) createTask(ctx context.Context, h *sessions.Header, t task.Save) (task.Task, bool, error) {
	p := s.newPointer(h, t.Task.ID)
	invocations := t.Invocations
	if len(invocations) == 0 {
		invocations = []string{t.Task.ID}
		found, err := s.findTaskInvocation(ctx, h, p, t.Task.ID)
		if err != nil {
			return task.Task{}, false, err
		}
		if !found {
			return s.createPlaced(ctx, h, t, p)
		}
	}
	if err := s.placeInvocations(ctx, h, p, invocations); err != nil {
		return task.Task{}, false, err
	}
	if err := s.DB.Put(ctx, p, table.ItemNotExists()); err != nil {
		return task.Task{}, false, err
	}
	return s.updateTask(ctx, h, t, p, p)
}

func (s *Store) newPointer(h *sessions.Header, id string) *TaskPointer {
	now, k := s.Millis(), keys.TaskPointerKey(h.Log, id)
	return &TaskPointer{
		PK: k.PK, SK: k.SK, User: h.User, Session: h.ID(), Created: now, Invocations: map[string]InvocationPosition{},
		GPK: keys.TaskIndexPK(h.User, id), GSK: keys.ActivitySK(now, h.ID()),
	}
}

// createPlaced stores a new task with its invocation: the log entry that gives it its
// position, then its pointer, then the task itself. Without a transaction this costs half.
//
// A save that is interrupted after the entry has used a position, as a deleted task has;
// after the pointer it is completed by the next save. The task itself is put only if no
// item is at its key, so whatever must not meet a late put leaves one there (new.go).
// A rewind and the deletion of the session need nothing: they come before the entry,
// whose position they take, or after the whole task as others see it.
//
// If the log names too many new tasks, the three are one transaction.
func (s *Store) createPlaced(ctx context.Context, h *sessions.Header, t task.Save, p *TaskPointer) (task.Task, bool, error) {
	content := TaskBody{UserMessage: t.Task.UserMessage, Bubbles: t.Task.Bubbles, Metadata: t.Task.Metadata}
	item := &TaskItem{
		PK: p.PK, Version: 1, Saved: 1, Created: p.Created, Updated: p.Created, Gen: h.ForkCount, Attribution: h.Attribution(),
	}
	var err error
	if item.Body, err = s.content.Pack(ctx, item.PK, content, 0); err != nil {
		return task.Task{}, false, err
	}
	if err = s.sessions.NoteTask(ctx, h, h.Base()+1); err != nil {
		return task.Task{}, false, err
	}
	if err = s.putPlaced(ctx, h, p, item); err != nil {
		if errors.Is(err, table.ErrConditionFailed) {
			s.drop(ctx, item)
		}
		return task.Task{}, false, err
	}
	s.sessions.CountBytes(ctx, h.OfLog(), usage.Kilobytes(item.Stored()))
	h.Recorded = true
	return content.task(h.ID(), p.id(), item), true, nil
}

// putPlaced writes the three items of a new task.
func (s *Store) putPlaced(ctx context.Context, h *sessions.Header, p *TaskPointer, item *TaskItem) error {
	var before []eventlog.Placement
	whole := func() bool { return len(before) >= maxNewTasks }
	done, err := s.logs.Append(ctx, h.OfLog(), []session.Event{{InvocationID: p.id(), Author: "system"}}, eventlog.Along{
		Task: p.id(),
		Check: func(ctx context.Context, head eventlog.Head) (err error) {
			if err = s.stillNew(ctx, h, p); err == nil {
				before, err = s.makeRoom(ctx, h.Log, head.NewTasks)
			}
			return err
		},
		Annotate: func(head eventlog.Head, e *eventlog.Entry) {
			if !whole() {
				e.NewTasks = append(before[:len(before):len(before)], eventlog.Placement{Position: head.Next, Time: max(s.Millis(), head.Time)})
			}
		},
		Writes: func(head eventlog.Head) ([]table.Write, error) {
			if !whole() {
				return nil, nil
			}
			p.place(head)
			item.SK, item.Marker = p.TaskKey().SK, p.Marker
			return []table.Write{table.Put(p, table.ItemNotExists()), table.Put(item, table.ItemNotExists())}, nil
		},
	})
	if err != nil || whole() {
		return err
	}
	p.place(eventlog.Head{Next: done.Events[0].Seq, LastMarker: done.Head.LastMarker})
	item.SK, item.Marker = p.TaskKey().SK, p.Marker
	if err := s.DB.Put(ctx, p, table.ItemNotExists()); err != nil {
		return err
	}
	return s.DB.Put(ctx, item, table.ItemNotExists())
}

// place gives a new task the position after the head of the log.
func (p *TaskPointer) place(head eventlog.Head) {
	p.Position, p.First, p.Marker = head.Next, p.id(), head.LastMarker
	p.Invocations = map[string]InvocationPosition{p.id(): {Position: head.Next}}
}

// stillNew returns table.ErrConditionFailed if a task has a pointer, or its invocation
// has begun, since the head of the log was read: the save then starts again.
func (s *Store) stillNew(ctx context.Context, h *sessions.Header, p *TaskPointer) error {
	stored, err := s.DB.GetItem(ctx, p.key())
	if err == nil && stored == nil {
		var begun *sessions.LogPosition
		if begun, err = s.sessions.FindOwnInvocation(ctx, h, p.id()); err == nil && begun == nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return table.ErrConditionFailed
}

// placeTask gives the invocations that a save names for the first time their
// positions in the log, and changes the pointer accordingly; if the task's first
// invocation has changed, the pointer is written when the task itself moves there.
func (s *Store) placeTask(ctx context.Context, h *sessions.Header, t task.Save, p *TaskPointer) error {
	fresh := slices.DeleteFunc(slices.Clone(t.Invocations), func(id string) bool {
		_, known := p.Invocations[id]
		return known
	})
	if len(fresh) == 0 && (len(t.Invocations) == 0 || t.Invocations[0] == p.First) {
		return nil
	}
	was := *p
	p.Invocations = maps.Clone(p.Invocations)
	if err := s.placeInvocations(ctx, h, p, t.Invocations); err != nil {
		return err
	}
	if was.Position != p.Position {
		return nil
	}
	return s.DB.Put(ctx, p, was.unmoved())
}

// moveTask writes a task at another position, and its pointer.
func (s *Store) moveTask(ctx context.Context, h *sessions.Header, w TaskWrite) error {
	return s.DB.Transact(ctx,
		table.Put(w.Now, w.Was.unmoved()), s.vacate(h, w.Was, w.Old), table.Put(w.Next), h.StillUnforked())
}

// vacate removes a task from its position. If the fork took the task over, an item
// stays, to cover the one in the source's log. If the task is new, one stays for a
// while: another save may be about to create it there.
func (s *Store) vacate(h *sessions.Header, p *TaskPointer, item *TaskItem) table.Write {
	cover := *item
	cover.Version, cover.Gen, cover.Gone, cover.Body = item.Version+1, h.ForkCount, true, records.Body{}
	cover.Saved, cover.Attribution = 0, eventlog.Attribution{}
	switch {
	case p.CopiedAt != 0 && p.CopiedAt == p.Position:
	case s.isNew(p):
		cover.Expires, cover.Judgement = s.tombstoneEnd(), Judgement{}
	default:
		return table.Delete(item.key(), item.SameVersion())
	}
	return table.Put(cover, item.SameVersion())
}

// placeInvocations looks up where invocations begin, adds an entry to the log for
// those without one, and gives the task the position of the first of them.
func (s *Store) placeInvocations(ctx context.Context, h *sessions.Header, p *TaskPointer, invocations []string) error {
	var entries []session.Event
	for _, id := range invocations {
		found, err := s.findTaskInvocation(ctx, h, p, id)
		if err != nil {
			return err
		}
		if !found {
			entries = append(entries, session.Event{InvocationID: id, Author: "system"})
		}
	}
	for batch := range slices.Chunk(entries, session.MaxBatch) {
		done, err := s.logs.Append(ctx, h.OfLog(), batch, eventlog.Along{Task: p.id()})
		if err != nil {
			return err
		}
		for _, e := range done.Events {
			// Another save may have been faster: the log decides.
			if _, err := s.findTaskInvocation(ctx, h, p, e.InvocationID); err != nil {
				return err
			}
		}
	}
	p.First = invocations[0]
	first := p.Invocations[p.First]
	p.Position = first.Position
	if first.Log == "" {
		return nil
	}
	inherited, err := s.sessions.Timeline(ctx, h.Inherited)
	for _, r := range inherited {
		if r.Log == first.Log && r.Holds(first.Position) {
			p.Position = r.Seq + first.Position - r.From
		}
	}
	return err
}

// findTaskInvocation looks up where an invocation begins and records it in the
// pointer.
func (s *Store) findTaskInvocation(ctx context.Context, h *sessions.Header, p *TaskPointer, id string) (bool, error) {
	found, err := s.sessions.FindInvocation(ctx, h, id)
	if err != nil || found == nil {
		return false, err
	}
	at := InvocationPosition{Position: found.Position}
	if found.Rec.Initial { // no rewind goes back to it, but a task may have its position
		at.Position--
	}
	if found.Log != h.Log {
		at.Log = found.Log
	} else { // the markers of other logs are none of this session's
		p.Marker = max(p.Marker, found.Rec.LastMarker)
	}
	p.Invocations[id] = at
	return true, nil
}
