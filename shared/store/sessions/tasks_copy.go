package sessions

import (
	"context"
	"errors"
	"maps"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/table"
)

// copyToFork copies a task that a fork took over into the fork, so that changes do
// not affect the source. Nil means that there is no such task.
func (s *Store) copyToFork(ctx context.Context, h *header, id string) (*taskPointer, error) {
	timeline, err := h.inherited() // includes what a rewind has hidden since
	if err != nil {
		return nil, err
	}
	seen, err := s.findInherited(ctx, h, timeline, id)
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := s.readTask(ctx, seen.item)
	if err != nil {
		return nil, err
	}
	t, err := s.shown(ctx, h, timeline, *seen)
	if err != nil {
		return nil, err
	}
	spots := maps.Clone(content.Invocations)
	for name, at := range spots {
		if at.Log == "" {
			at.Log = seen.item.PK[len(keys.PrefixLog):]
		}
		spots[name] = at
	}
	k := keys.TaskPointerKey(h.Log, id)
	p := taskPointer{
		PK: k.PK, SK: k.SK, User: h.User, Session: h.id(), Created: seen.item.Created,
		Position: seen.seq, Invocations: spots, CopiedAt: seen.seq,
		GPK: keys.TaskIndexPK(h.User, id), GSK: keys.ActivitySK(seen.item.Created, h.id()),
	}
	if p.Invocations == nil {
		p.Invocations = map[string]invocationPosition{}
	}
	item := &taskItem{
		PK: k.PK, SK: p.taskKey().SK, Version: 1, Created: seen.item.Created, Updated: seen.item.Updated, Gen: h.ForkCount,
	}
	if item.Body, err = s.content.Pack(ctx, item.PK, taskBody{
		UserMessage: t.UserMessage, Bubbles: t.Bubbles, Metadata: t.Metadata, Invocations: spots,
	}, 0); err != nil {
		return nil, err
	}
	if err := s.db.Transact(ctx, table.Put(p, table.ItemNotExists()), table.Put(item, table.ItemNotExists())); err != nil {
		return nil, err
	}
	s.countBytes(ctx, h.ofLog(), kilobytes(item.Stored()))
	return &p, nil
}
