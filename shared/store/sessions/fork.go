package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// child records that a fork reads a log, which stays while it has children.
type child struct {
	PK      string  `dynamodbav:"PK"`
	SK      string  `dynamodbav:"SK"`
	Session string  `dynamodbav:"s"`
	Before  *string `dynamodbav:"i,omitempty"`
	Found   bool    `dynamodbav:"b"`
	Base    int64   `dynamodbav:"n"`
	Created int64   `dynamodbav:"ct"`
}

func (c *child) log() string { return c.SK[len(prefixChild):] }

// Fork implements session.Rewinder. It copies pointers only: the source's
// timeline up to the boundary, and the state at that position.
func (s *Store) Fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	creation := session.New{ID: f.ID, UserID: f.UserID, Nonce: f.Nonce}
	return records.ContendedValue(ctx, func() (session.Session, error) {
		if !f.DryRun {
			if err := s.admitSession(ctx, f.UserID); err != nil {
				return s.createdOr(ctx, creation, err)
			}
		}
		out, err := s.fork(ctx, f)
		switch {
		case errors.Is(err, table.ErrConditionFailed):
			return s.createdOr(ctx, creation, err)
		case err != nil:
			err = fmt.Errorf("fork session %s: %w", f.SessionID, err)
		}
		return out, err
	})
}

func (s *Store) fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	source, at, err := s.headerAndHead(ctx, f.UserID, f.SessionID)
	if err != nil {
		return session.Session{}, err
	}
	out, err := s.forkFrom(ctx, source, at, f)
	return out, s.notFoundIfDeleted(ctx, source, err)
}

// forkFrom forks a session whose header and head were read.
func (s *Store) forkFrom(ctx context.Context, source *header, at head, f session.ForkOf) (session.Session, error) {
	b, err := s.boundary(ctx, source, at, f)
	if err != nil {
		return session.Session{}, err
	}
	h := s.forkHeader(source, f, b)
	if !f.DryRun {
		if err := s.writeFork(ctx, source, h, b.values); err != nil {
			return session.Session{}, err
		}
	}
	return s.render(h, head{next: h.base() + 1})
}

// boundary is what a fork inherits: the timeline and the session's own state just
// before the boundary or, without a boundary, as they are now.
type boundary struct {
	session.Boundary
	values session.Values
}

func (s *Store) boundary(ctx context.Context, source *header, at head, f session.ForkOf) (*boundary, error) {
	values, asOf, err := s.sessionValues(ctx, source.Log, at.lastState)
	if err != nil {
		return nil, err
	}
	if at.olderThan(source, asOf) {
		return nil, table.ErrConditionFailed
	}
	from := session.ForkSource{Last: at.last()}
	if from.Shown, err = source.timeline(); err != nil {
		return nil, err
	}
	if f.Before != nil {
		target, err := s.findInvocationUpTo(ctx, source, at, *f.Before)
		if err != nil {
			return nil, err
		}
		if err := s.goBack(ctx, source, at, target, &from, values); err != nil {
			return nil, err
		}
	}
	b := &boundary{values: values}
	if b.Boundary, err = f.Boundary(from); err != nil {
		return nil, err
	}
	return b, s.resolveOpen(ctx, source, at, b)
}

// goBack reads what a source showed just before a target and reverts the changes
// of the values since. It does nothing for a nil target.
func (s *Store) goBack(
	ctx context.Context, source *header, at head, target *logPosition, from *session.ForkSource, values session.Values,
) error {
	if target == nil {
		return nil
	}
	undo, err := s.undoTo(ctx, source, at, target)
	if err != nil {
		return err
	}
	values.Apply(undo.In(session.ScopeSession))
	from.Target = target.seq
	from.Then, err = s.timelineAt(ctx, source, target)
	return err
}

// resolveOpen applies Boundary.Resolve to the item that was in progress at the head
// that was read, if the fork would inherit it. It returns table.ErrConditionFailed if
// the item was completed since and the state that was read may lack its change.
func (s *Store) resolveOpen(ctx context.Context, source *header, at head, b *boundary) error {
	if at.open == 0 || !b.Timeline.Shows(source.Log, at.open) {
		return nil
	}
	rec, err := s.entryCovering(ctx, source.Log, at.open)
	if err != nil {
		return err
	}
	compare := false
	b.Boundary, compare = b.Resolve(session.OpenItem{
		Log: source.Log, Position: at.open, InProgress: rec.inProgress(), Change: rec.events[0].Change(),
	})
	if !compare {
		return nil
	}
	now, err := s.readHead(ctx, source)
	if err == nil && now.lastState != at.lastState {
		err = table.ErrConditionFailed
	}
	return err
}

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
// deleted or forked since it was read. It increments the source's count of forks,
// by which later saves of tasks keep the versions that the fork shows; saves
// under way start again.
func (s *Store) writeFork(ctx context.Context, source, h *header, values session.Values) error {
	o := h.Origin
	c := child{
		PK: logPK(source.Log), SK: prefixChild + h.Log, Session: h.id(),
		Before: o.Before, Found: o.Found, Base: o.Base, Created: h.Created,
	}
	state := checkpoint{PK: logPK(h.Log), SK: skState, At: o.Base}
	var err error
	if state.Body, err = s.content.Pack(ctx, state.PK, values, 0); err != nil {
		return err
	}
	items := []any{h, c, state}
	artifacts, err := s.inheritedVersions(ctx, source.Log, values)
	if err != nil {
		return err
	}
	if len(artifacts) > 0 {
		item := inheritedItem{PK: logPK(h.Log), SK: skInherited}
		if item.Body, err = s.content.Pack(ctx, item.PK, artifacts, 0); err != nil {
			return err
		}
		items = append(items, item)
	}
	writes, err := s.invalidatePendingSaves(ctx, source)
	if err != nil {
		return err
	}
	writes = append(append(writes, source.countFork()), s.createWrites(h)...)
	for _, item := range items {
		writes = append(writes, table.Put(item, table.ItemNotExists()))
	}
	return source.unmatchable(s.db.Transact(ctx, writes...))
}

// countFork returns the change of a source's header by a fork.
func (h *header) countFork() table.Write {
	return table.Update(sessionKey(h.id()), []table.Change{
		table.Set(table.At(headerForkCount), h.ForkCount+1),
		table.Set(table.At(headerLastActivity), h.lastActivity()),
		table.Remove(table.At(headerSaving)),
	}, h.unforked(), unchanged(headerEpoch, h.Epoch), h.sameSaving())
}

// unforked is the condition that the session was not forked since it was read.
func (h *header) unforked() table.Condition {
	return table.And(h.sameLog(), unchanged(headerForkCount, h.ForkCount))
}

// inheritedVersions returns, for each artifact that the state names, the log in
// which the fork finds its versions: the source's log, or the log that the source
// itself inherits them from, so that chains do not grow. An event may name a
// version that was never stored; a version that the source stores under that
// number later does not belong to the fork.
func (s *Store) inheritedVersions(
	ctx context.Context, log string, values session.Values,
) (map[string]inheritedArtifact, error) {
	named := map[string]int64{}
	for key, v := range values {
		if name, ok := session.ArtifactOf(key); ok && !impossible(key) {
			var err error
			if named[name], err = strconv.ParseInt(string(v), 10, 64); err != nil {
				return nil, fmt.Errorf("version of artifact %s: %w", name, err)
			}
		}
	}
	out := map[string]inheritedArtifact{}
	if len(named) == 0 {
		return out, nil
	}
	before, err := s.inheritedArtifacts(ctx, log)
	if err != nil {
		return nil, err
	}
	for name, version := range named {
		from, taken := before[name]
		if taken {
			out[name] = inheritedArtifact{Log: from.Log, Version: min(version, from.Version)}
		}
		if taken && version <= from.Version {
			continue
		}
		own, err := s.newestUpTo(ctx, logPK(log), name, version)
		if err != nil {
			return nil, err
		}
		if own != nil {
			_, number, err := own.nameAndVersion()
			if err != nil {
				return nil, err
			}
			out[name] = inheritedArtifact{Log: log, Version: number}
		}
	}
	return out, nil
}

// show returns an event as the session's readers see it. Inherited events have
// ids of the fork's own, which are always the same.
func (h *header) show(r session.Range, e session.Event) session.Event {
	e.SessionID = h.id()
	e.Seq = r.Seq + e.Seq - r.From
	if r.Log == h.Log {
		return e
	}
	e.ID = session.PositionalID(e.Seq, uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.Log+"\x00"+e.ID)))
	taskID := func(id string) string { return h.inheritedID(r.Log, id) }
	if e.TaskID != "" {
		e.TaskID = taskID(e.TaskID)
	}
	fields := maps.Clone(e.Fields)
	for name, raw := range fields {
		fields[name] = session.RewriteForFork(raw, h.id(), taskID)
	}
	e.Fields = fields
	return e
}

// forkedTaskID returns the id that a fork, given by its log, gives to an
// inherited task.
func forkedTaskID(log, of string) string {
	if id := of + "." + log; fault.CheckID("", id) == nil {
		return id
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(log+"\x00"+of)).String()
}
