package forks

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// treeDepth limits how far the tree of forks is followed, in case of an impossible
// cycle.
const treeDepth = 1000

// Forks implements session.Rewinder. A deleted session stays in the tree while it
// has forks.
func (s *Store) Forks(ctx context.Context, userID, id string) (session.Branch, error) {
	h, err := s.sessions.Header(ctx, userID, id)
	if err != nil {
		return session.Branch{}, err
	}
	b, log, err := s.root(ctx, h)
	if err != nil {
		return session.Branch{}, fmt.Errorf("forks of session %s: %w", id, err)
	}
	if err = s.growTree(ctx, &b, log, 0); err == nil {
		err = s.logs.CheckExists(ctx, h.Log)
	}
	return b, err
}

// root follows the origins of a fork to the session that is not a fork.
func (s *Store) root(ctx context.Context, h *sessions.Header) (session.Branch, string, error) {
	b, log, from := branchOf(h), h.Log, h.Origin
	for depth := 0; from != nil; depth++ {
		if depth == treeDepth {
			return b, log, fmt.Errorf("log %s has no root", log)
		}
		above, next, _, err := s.branch(ctx, from.Session, from.Log)
		if errors.Is(err, table.ErrUnreadable) { // the tree begins below it
			s.LeftOut(ctx, keys.SessionKey(from.Session), err)
			return b, log, nil
		}
		if err != nil {
			return b, log, err
		}
		b, log, from = above, from.Log, next
	}
	return b, log, nil
}

// branch reads a session by its log, whether it exists or was deleted; stored is false
// if it is neither.
func (s *Store) branch(ctx context.Context, id, log string) (b session.Branch, from *sessions.Origin, stored bool, err error) {
	var h sessions.Header
	found, err := s.DB.Get(ctx, keys.SessionKey(id), &h)
	if err != nil {
		return session.Branch{}, nil, false, err
	}
	if found && h.Log == log {
		return branchOf(&h), h.Origin, true, nil
	}
	var left sessions.DeletedLog
	if stored, err = s.DB.Get(ctx, keys.DeletedKey(log), &left); err != nil {
		return session.Branch{}, nil, false, err
	}
	b = session.Branch{ID: id, Deleted: true, CreatedTime: left.Created, Children: []session.Branch{}}
	fillOrigin(&b, left.Origin)
	return b, left.Origin, stored, nil
}

func branchOf(h *sessions.Header) session.Branch {
	b := session.Branch{ID: h.ID(), Name: h.Name, CreatedTime: h.Created, Children: []session.Branch{}}
	fillOrigin(&b, h.Origin)
	return b
}

// fillOrigin sets where a branch left its parent.
func fillOrigin(b *session.Branch, o *sessions.Origin) {
	if o != nil {
		b.RewindBeforeInvocationID, b.BoundaryFound, b.ForkedAtSeq = o.Before, o.Found, o.Base
	}
}

// growTree adds the forks of a log to its branch, recursively.
func (s *Store) growTree(ctx context.Context, b *session.Branch, log string, depth int) error {
	if depth == treeDepth {
		return fmt.Errorf("log %s has too deep a tree", log)
	}
	children, err := s.shownChildren(ctx, log)
	if err != nil {
		return err
	}
	for _, c := range children {
		under, _, stored, err := s.branch(ctx, c.Session, c.Log())
		if errors.Is(err, table.ErrUnreadable) {
			s.LeftOut(ctx, keys.SessionKey(c.Session), err)
			continue
		}
		if err != nil {
			return err
		}
		if !stored { // it is about to be, or its forking was interrupted
			continue
		}
		if err := s.growTree(ctx, &under, c.Log(), depth+1); err != nil {
			return err
		}
		b.Children = append(b.Children, under)
	}
	return nil
}

// shownChildren returns the readable forks of a log; children, which decides
// whether a log stays, fails if one is unreadable.
func (s *Store) shownChildren(ctx context.Context, log string) ([]history.Child, error) {
	var out []history.Child
	err := s.DB.Pages(ctx, records.Prefix(keys.LogPK(log), keys.PrefixChild, true), func(page []table.Item) (bool, error) {
		out = append(out, records.DecodeItems[history.Child](ctx, s.Base, page)...)
		return true, nil
	})
	return out, err
}
