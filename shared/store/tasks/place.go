package tasks

import (
	"context"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

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
