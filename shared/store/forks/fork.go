package forks

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// Fork implements session.Rewinder. It copies pointers only: the source's
// timeline up to the boundary, and the state at that position.
func (s *Store) Fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	creation := session.New{ID: f.ID, UserID: f.UserID, Nonce: f.Nonce}
	return records.ContendedValue(ctx, func() (session.Session, error) {
		if !f.DryRun {
			if err := s.sessions.AdmitSession(ctx, f.UserID); err != nil {
				return s.sessions.CreatedOr(ctx, creation, err)
			}
		}
		out, err := s.fork(ctx, f)
		switch {
		case errors.Is(err, table.ErrConditionFailed):
			return s.sessions.CreatedOr(ctx, creation, err)
		case err != nil:
			err = fmt.Errorf("fork session %s: %w", f.SessionID, err)
		}
		return out, err
	})
}

func (s *Store) fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	source, head, err := s.sessions.HeaderAndHead(ctx, f.UserID, f.SessionID)
	if err != nil {
		return session.Session{}, err
	}
	out, err := s.forkFrom(ctx, source, head, f)
	return out, s.sessions.NotFoundIfDeleted(ctx, source, err)
}

// forkFrom forks a session whose header and head were read.
func (s *Store) forkFrom(ctx context.Context, source *sessions.Header, head eventlog.Head, f session.ForkOf) (session.Session, error) {
	b, err := s.boundary(ctx, source, head, f)
	if err != nil {
		return session.Session{}, err
	}
	h := s.forkHeader(source, f, b)
	if h.Origin.State = head.LastState + 1; head.LastState > b.Position {
		h.Origin.State = 0
	}
	if !f.DryRun {
		if err := s.writeFork(ctx, source, h, head, b.values); err != nil {
			return session.Session{}, err
		}
	}
	return s.sessions.Render(ctx, h, eventlog.Head{Next: h.Base() + 1})
}

// boundary is what a fork inherits: the timeline and the session's own state just
// before the boundary or, without a boundary, as they are now.
type boundary struct {
	session.Boundary
	values session.Values
}

func (s *Store) boundary(ctx context.Context, source *sessions.Header, head eventlog.Head, f session.ForkOf) (*boundary, error) {
	values, asOf, err := s.logs.SessionValues(ctx, source.Log, head.LastState)
	if err != nil {
		return nil, err
	}
	if head.OlderThan(source.OfLog(), asOf) {
		return nil, table.ErrConditionFailed
	}
	from := session.ForkSource{Last: head.Last()}
	if from.Shown, err = source.Shown(); err != nil {
		return nil, err
	}
	if f.Before != nil {
		target, err := s.sessions.FindInvocationUpTo(ctx, source, head, *f.Before)
		if err != nil {
			return nil, err
		}
		if target != nil {
			if err := session.CheckBoundary(f.AtSeq, *f.Before, target.Seq); err != nil {
				return nil, err
			}
		}
		if err := s.goBack(ctx, source, head, target, &from, values); err != nil {
			return nil, err
		}
	}
	b := &boundary{values: values}
	if b.Boundary, err = f.Boundary(from); err != nil {
		return nil, err
	}
	return b, s.resolveOpen(ctx, source, head, b)
}

// goBack reads what a source showed just before a target and reverts the changes
// of the values since. It does nothing for a nil target.
func (s *Store) goBack(
	ctx context.Context, source *sessions.Header, head eventlog.Head, target *sessions.LogPosition, from *session.ForkSource, values session.Values,
) error {
	if target == nil {
		return nil
	}
	undo, err := s.sessions.UndoTo(ctx, source, head, target)
	if err != nil {
		return err
	}
	values.Apply(undo.In(session.ScopeSession))
	from.Target = target.Seq
	then, err := s.sessions.TimelineAt(ctx, source, target)
	from.Then = then.Outline
	return err
}

// resolveOpen applies Boundary.Resolve to the item that was in progress at the head
// that was read, if the fork would inherit it. It returns table.ErrConditionFailed if
// the item was completed since and the state that was read may lack its change.
func (s *Store) resolveOpen(ctx context.Context, source *sessions.Header, head eventlog.Head, b *boundary) error {
	if head.Open == 0 || !b.Outline.Shows(source.Log, head.Open) {
		return nil
	}
	rec, err := s.logs.EntryCovering(ctx, source.Log, head.Open)
	if err != nil {
		return err
	}
	compare := false
	b.Boundary, compare = b.Resolve(session.OpenItem{
		Log: source.Log, Position: head.Open, InProgress: rec.InProgress(), Change: rec.Events[0].Change(),
	})
	if !compare {
		return nil
	}
	now, err := s.logs.ReadHead(ctx, source.OfLog())
	if err == nil && now.LastState != head.LastState {
		err = table.ErrConditionFailed
	}
	return err
}

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
