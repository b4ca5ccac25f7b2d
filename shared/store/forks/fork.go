package forks

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
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
