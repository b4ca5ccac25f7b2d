package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

func (s *Store) forkHeader(source *header, f session.ForkOf, b *boundary) *header {
	inherited, base := b.Timeline.Inherited(source.Log, source.ForkCount+1)
	h := s.newHeader(session.New{
		ID: f.ID, UserID: source.User, AppName: source.App, Agent: source.Agent,
		Name: f.NameOf(source.Name, source.id()), Nonce: f.Nonce, KeyedBy: f.KeyedBy, Retention: source.retained().OwnSeconds(),
	}, source.Meta)
	h.Origin = &origin{
		Session: source.id(), Log: source.Log, Before: f.Before, Found: b.Found,
		Inherited: inherited.Encode(), Base: base, At: b.At,
	}
	if from := source.Origin; from != nil {
		h.Origin.Lineage = append([]lineage{{
			Log: source.Log, Gen: source.ForkCount + 1, Base: from.Base, From: from.Log, At: from.At,
		}}, from.Lineage...)
	}
	return h
}

// writeFork stores the fork, on condition that its source has not been rewound,
// deleted or forked since it was read with its head. It increments the source's count of forks,
// by which later saves of tasks keep the versions that the fork shows; saves
// under way start again.
//
// The record of the fork in its source's log, which keeps that log, is written before
// the transaction, at half the price: the fork never exists without it. A record
// whose fork was not stored is removed when the log is deleted.
func (s *Store) writeFork(ctx context.Context, source, h *header, at head, values session.Values) error {
	o := h.Origin
	c := child{
		PK: keys.LogPK(source.Log), SK: keys.PrefixChild + h.Log, Session: h.id(),
		Before: o.Before, Found: o.Found, Base: o.Base, Created: h.Created,
	}
	items := []any{h}
	if len(values) > 0 {
		state := checkpoint{PK: keys.LogPK(h.Log), SK: keys.SkState, At: o.Base}
		var err error
		if state.Body, err = s.content.Pack(ctx, state.PK, values, 0); err != nil {
			return err
		}
		items = append(items, state)
	}
	inherited, err := s.inheritedVersions(ctx, source.Log, values)
	if err != nil {
		return err
	}
	if len(inherited) > 0 {
		item := inheritedItem{PK: keys.LogPK(h.Log), SK: keys.SkInherited}
		if item.Body, err = s.content.Pack(ctx, item.PK, inherited, 0); err != nil {
			return err
		}
		items = append(items, item)
	}
	writes, err := s.invalidatePendingSaves(ctx, source)
	if err != nil {
		return err
	}
	covers, err := s.coverNewTasks(ctx, source, at, h)
	if err != nil {
		return err
	}
	writes = append(append(append(writes, covers...), source.countFork()), s.createWrites(h)...)
	for _, item := range items {
		writes = append(writes, table.Put(item, table.ItemNotExists()))
	}
	if err := s.db.Put(ctx, c); err != nil {
		return err
	}
	err = s.db.Transact(ctx, writes...)
	if errors.Is(err, table.ErrConditionFailed) {
		s.forgetFork(ctx, source.Log, &c)
	}
	return source.unmatchable(err)
}

// forgetFork removes the record of a fork whose transaction was refused, unless that
// was because an attempt had stored the fork and only its answer was lost. If the
// source was deleted meanwhile, its log no longer waits for the fork.
func (s *Store) forgetFork(ctx context.Context, source string, c *child) {
	stored, err := s.isStored(ctx, c)
	if err == nil && !stored {
		err = s.releaseSource(ctx, source, c.log())
	}
	if err != nil {
		s.log.WarnContext(ctx, "the record of a fork that was not stored stays until its source is deleted", "error", err)
	}
}

// countFork returns the change of a source's header by a fork.
func (h *header) countFork() table.Write {
	return table.Update(keys.SessionKey(h.id()), []table.Change{
		table.Set(table.At(headerForkCount), h.ForkCount+1),
		table.Set(table.At(headerLastActivity), h.lastActivity()),
		table.Remove(table.At(headerSaving)),
	}, h.unforked(), records.Unchanged(headerEpoch, h.Epoch), h.sameSaving())
}

// unforked is the condition that the session was not forked since it was read.
func (h *header) unforked() table.Condition {
	return table.And(h.sameLog(), records.Unchanged(headerForkCount, h.ForkCount))
}
