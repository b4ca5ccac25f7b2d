package sessions

import (
	"context"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/table"
)

// placeTask gives the invocations that a save names for the first time their
// places in the log. The pointer is changed accordingly; where the task's first
// invocation is another now it is written when the task itself moves there.
func (s *Store) placeTask(ctx context.Context, h *header, t task.Save, p *taskPointer) error {
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
	return s.db.Put(ctx, p, was.unmoved())
}

// moveTask writes a task at another place, and what points there.
func (s *Store) moveTask(ctx context.Context, h *header, w taskWrite) error {
	return s.db.Transact(ctx,
		table.Put(w.now, w.was.unmoved()), w.was.leave(w.old, h.ForkCount), table.Put(w.next), h.stillUnforked())
}

// leave takes a task away from its place. Where a fork took the task over,
// something stays, to cover the one in the source's log.
func (p *taskPointer) leave(item *taskItem, gen int64) table.Write {
	if p.CopiedAt == 0 || p.CopiedAt != p.Position {
		return table.Delete(item.key(), item.sameVersion())
	}
	cover := *item
	cover.Version, cover.Gen, cover.Gone, cover.Body = item.Version+1, gen, true, content.Body{}
	cover.Saved, cover.attribution = 0, attribution{}
	return table.Put(cover, item.sameVersion())
}

// placeInvocations looks up where invocations begin, gives those without an entry in
// the log one, and places the task where the first of them stands.
func (s *Store) placeInvocations(ctx context.Context, h *header, p *taskPointer, invocations []string) error {
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
		w := s.newWriter(h, batch)
		w.task = p.id()
		if _, err := w.run(ctx); err != nil {
			return err
		}
		for _, e := range w.events {
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
	inherited, err := h.inherited()
	for _, r := range inherited {
		if r.Log == first.Log && r.Holds(first.Position) {
			p.Position = r.Seq + first.Position - r.From
		}
	}
	return err
}

// findTaskInvocation looks up where an invocation begins and notes it in the pointer.
func (s *Store) findTaskInvocation(ctx context.Context, h *header, p *taskPointer, id string) (bool, error) {
	found, err := s.findInvocation(ctx, h, id)
	if err != nil || found == nil {
		return false, err
	}
	at := invocationPosition{Position: found.position}
	if found.rec.initial { // nothing is rewound to it, but a task may stand there
		at.Position--
	}
	if found.log != h.Log {
		at.Log = found.log
	} else { // the markers of other logs are none of this session's
		p.Marker = max(p.Marker, found.rec.LastMarker)
	}
	p.Invocations[id] = at
	return true, nil
}
