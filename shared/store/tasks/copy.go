package tasks

import (
	"context"
	"errors"
	"maps"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

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
