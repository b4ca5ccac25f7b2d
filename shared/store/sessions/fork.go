package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"

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

func (c *child) log() string { return c.SK[len(keys.PrefixChild):] }

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
		if err := s.writeFork(ctx, source, h, at, b.values); err != nil {
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
	if at.olderThan(source.ofLog(), asOf) {
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
	now, err := s.readHead(ctx, source.ofLog())
	if err == nil && now.lastState != at.lastState {
		err = table.ErrConditionFailed
	}
	return err
}
