package forks

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// spot names a session and its log.
type spot struct{ id, log string }

// found is what is stored of a session: its node is nil if it neither exists nor was deleted
// while it had forks, or cannot be read.
type found struct {
	*node
	origin     *sessions.Origin
	unreadable bool
}

// found reads sessions, in two requests for a hundred.
func (s *Store) found(ctx context.Context, spots []spot) ([]found, error) {
	headers := make([]table.Key, len(spots))
	for i, p := range spots {
		headers[i] = keys.SessionKey(p.id)
	}
	stored, err := s.DB.BatchGetByKey(ctx, headers, true)
	if err != nil {
		return nil, err
	}
	out := make([]found, len(spots))
	var deleted []table.Key
	for i, p := range spots {
		item := stored[headers[i]]
		var h sessions.Header
		if err := table.Decode(item, &h); item != nil && err != nil {
			s.LeftOut(ctx, headers[i], err)
			out[i].unreadable = true
			continue
		}
		if item != nil && h.Log == p.log {
			out[i] = found{node: nodeOf(&h), origin: h.Origin}
			continue
		}
		deleted = append(deleted, keys.DeletedKey(p.log))
	}
	left, err := s.DB.BatchGetByKey(ctx, deleted, true)
	if err != nil {
		return nil, err
	}
	for i, p := range spots {
		item := left[keys.DeletedKey(p.log)]
		if out[i].node != nil || item == nil {
			continue
		}
		var d sessions.DeletedLog
		if err := table.Decode(item, &d); err != nil {
			s.LeftOut(ctx, keys.DeletedKey(p.log), err)
			out[i].unreadable = true
			continue
		}
		b := session.Branch{ID: p.id, Deleted: true, CreatedTime: d.Created, Children: []session.Branch{}}
		fillOrigin(&b, d.Origin)
		out[i] = found{node: &node{Branch: b, log: p.log}, origin: d.Origin}
	}
	return out, nil
}

// root returns the session that a fork descends from and that is no fork itself, nil for one
// that is none. If it cannot be read, the tree begins below.
func (s *Store) root(ctx context.Context, o *sessions.Origin) (*node, error) {
	if o == nil {
		return nil, nil
	}
	lineage := o.Ancestors()
	if n := len(lineage); n > 0 {
		lineage = lineage[n-1:]
	}
	above, err := s.above(ctx, o, lineage)
	if err == nil && len(above) == len(lineage)+1 {
		return above[0], nil
	}
	if err == nil {
		above, err = s.ancestors(ctx, o)
	}
	if err != nil || len(above) == 0 {
		return nil, err
	}
	return above[0], nil
}

// ancestors returns the sessions that a fork descends from, the oldest first, from the one
// after the last that cannot be read on.
func (s *Store) ancestors(ctx context.Context, o *sessions.Origin) ([]*node, error) {
	if o == nil {
		return nil, nil
	}
	if err := s.sessions.ReadAncestors(ctx, o); err != nil {
		return nil, err
	}
	return s.above(ctx, o, o.Ancestors())
}

// above returns those ancestors that part of a lineage names, and the root.
func (s *Store) above(ctx context.Context, o *sessions.Origin, lineage []sessions.Lineage) ([]*node, error) {
	children := make([]table.Key, len(lineage))
	for i, l := range lineage {
		children[i] = table.NewKey(keys.LogPK(l.From), keys.PrefixChild+l.Log)
	}
	stored, err := s.DB.BatchGetByKey(ctx, children, true)
	if err != nil {
		return nil, err
	}
	var spots []spot
	for i, l := range slices.Backward(lineage) {
		var c history.Child
		if err := table.Decode(stored[children[i]], &c); err != nil {
			s.LeftOut(ctx, children[i], err)
		}
		spots = append(spots, spot{id: c.Session, log: l.Log})
	}
	all, err := s.found(ctx, spots)
	if err != nil {
		return nil, err
	}
	root := spot{id: o.Session, log: o.Log}
	if len(all) > 0 {
		if root = (spot{}); all[0].origin != nil {
			root = spot{id: all[0].origin.Session, log: all[0].origin.Log}
		}
	}
	first, err := s.found(ctx, []spot{root})
	if err != nil {
		return nil, err
	}
	var out []*node
	for _, f := range append(first, all...) {
		if f.node == nil {
			out = nil
			continue
		}
		out = append(out, f.node)
	}
	return out, nil
}

// rootLog returns the log at the root of the tree that a log belongs to.
func rootLog(o *sessions.Origin, log string) string {
	if o == nil {
		return log
	}
	return o.Root()
}

func nodeOf(h *sessions.Header) *node {
	return &node{Branch: branchOf(h), log: h.Log, whole: h.ForkCount == 0} // a session that was never forked has no forks
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
