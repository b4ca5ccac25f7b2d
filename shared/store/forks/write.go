package forks

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

func (s *Store) forkHeader(source *sessions.Header, f session.ForkOf, b *boundary) *sessions.Header {
	inherited, base := b.Outline.Inherited(source.Log, source.ForkCount+1)
	h := s.sessions.NewHeader(session.New{
		ID: f.ID, UserID: source.User, AppName: source.App, Agent: source.Agent,
		Name: f.NameOf(source.Name, source.ID()), Nonce: f.Nonce, KeyedBy: f.KeyedBy, Retention: source.Retained().OwnSeconds(),
	}, source.Meta)
	h.Origin = &sessions.Origin{
		Session: source.ID(), Log: source.Log, Before: f.Before, Found: b.Found,
		Inherited: inherited.Encode(), Base: base, Position: b.Position,
	}
	if from := source.Origin; from != nil {
		h.Origin.Lineage = append([]sessions.Lineage{{
			Log: source.Log, Gen: source.ForkCount + 1, Base: from.Base, From: from.Log, Position: from.Position,
			Tasks: source.Tasks, State: from.State,
		}}, from.Ancestors()...)
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
func (s *Store) writeFork(ctx context.Context, source, h *sessions.Header, head eventlog.Head, values session.Values) error {
	o := h.Origin
	c := history.Child{
		PK: keys.LogPK(source.Log), SK: keys.PrefixChild + h.Log, Session: h.ID(),
		Before: o.Before, Found: o.Found, Base: o.Base, Created: h.Created,
	}
	if len(o.Lineage) > 0 {
		var err error
		if o.Lineage[0].Names, err = s.sessions.InvocationNames(ctx, source); err != nil {
			return err
		}
	}
	older, err := s.sessions.SplitAncestors(ctx, h, source)
	if err != nil {
		return err
	}
	items := []any{h}
	if older != nil {
		items = append(items, older)
	}
	if len(values) > 0 {
		state := eventlog.Checkpoint{PK: keys.LogPK(h.Log), SK: keys.SkState, Position: o.Base}
		var err error
		if state.Body, err = s.content.Pack(ctx, state.PK, values, 0); err != nil {
			return err
		}
		items = append(items, state)
	}
	inherited, err := s.artifacts.InheritedVersions(ctx, source.Log, source.ForkCount+1, values)
	if err != nil {
		return err
	}
	if len(inherited) > 0 {
		item, err := s.artifacts.Inheriting(ctx, h.Log, inherited)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	writes, err := s.tasks.InvalidatePendingSaves(ctx, source)
	if err != nil {
		return err
	}
	covers, err := s.tasks.CoverNewTasks(ctx, source, head, h)
	if err != nil {
		return err
	}
	writes = append(append(append(writes, covers...), countFork(source)), s.sessions.CreateWrites(h)...)
	for _, item := range items {
		writes = append(writes, table.Put(item, table.ItemNotExists()))
	}
	if err := s.DB.Put(ctx, c); err != nil {
		return err
	}
	err = s.DB.Transact(ctx, writes...)
	if errors.Is(err, table.ErrConditionFailed) {
		s.forgetFork(ctx, source.Log, &c)
	}
	return source.Unmatchable(err)
}

// forgetFork removes the record of a fork whose transaction was refused, unless that
// was because an attempt had stored the fork and only its answer was lost. If the
// source was deleted meanwhile, its log no longer waits for the fork.
func (s *Store) forgetFork(ctx context.Context, source string, c *history.Child) {
	stored, err := s.lifecycle.IsStored(ctx, c)
	if err == nil && !stored {
		err = s.lifecycle.ReleaseSource(ctx, source, c.Log())
	}
	if err != nil {
		s.Log.WarnContext(ctx, "the record of a fork that was not stored stays until its source is deleted", "error", err)
	}
}

// countFork returns the change of a source's header by a fork.
func countFork(h *sessions.Header) table.Write {
	same := []table.Condition{
		h.Unforked(), records.Unchanged(sessions.HeaderEpoch, h.Epoch), records.Unchanged(sessions.HeaderTasks, h.Tasks), tasks.SameSaving(h),
	}
	if h.RefersToMetadata() { // which a change of the session would delete
		same = append(same, table.Equal(table.Path{sessions.HeaderVersion}, h.Version))
	}
	return table.Update(keys.SessionKey(h.ID()), []table.Change{
		table.Set(table.Path{sessions.HeaderForkCount}, h.ForkCount+1),
		table.Set(table.Path{sessions.HeaderLastActivity}, h.ActiveAt()),
		table.Remove(table.Path{sessions.HeaderSaving}),
	}, same...)
}
