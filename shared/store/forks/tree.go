package forks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// childrenAtOnce is how many forks of a session are read at a time: one request for their
// records, and one for the sessions.
const childrenAtOnce = 100

// Forks implements session.Rewinder. A deleted session stays in the tree while it
// has forks. A page shows each session after its source: where it goes on from an earlier
// page, the sources are repeated.
func (s *Store) Forks(ctx context.Context, q session.TreeQuery) (session.TreePage, error) {
	h, err := s.sessions.Header(ctx, q.UserID, q.SessionID)
	if err != nil {
		return session.TreePage{}, err
	}
	if q.Alone {
		return session.TreePage{Root: branchOf(h)}, nil
	}
	w := walk{s: s, limit: q.Limit}
	if q.After == "" {
		err = w.begin(ctx, h)
	} else {
		err = w.resume(ctx, h, q.After)
	}
	if err == nil {
		err = w.run(ctx)
	}
	if err == nil {
		err = s.logs.CheckExists(ctx, h.Log)
	}
	if err != nil {
		return session.TreePage{}, fmt.Errorf("forks of session %s: %w", q.SessionID, err)
	}
	return session.TreePage{Root: w.path[0].tree(), Next: w.next}, nil
}

// walk visits a tree, each session before its forks, until it has as many as it may.
type walk struct {
	s     *Store
	limit int
	shown int
	path  []*node // from the root to the sessions whose forks are visited
	last  *node   // the session visited last
	next  string
}

// node is a session of the tree, with those of its forks that are visited.
type node struct {
	session.Branch
	log      string
	parent   *node
	children []*node
	after    string // the sort key of the last of its forks that was visited
	pending  []*node
	whole    bool // whether all its forks have been read
}

func (n *node) tree() session.Branch {
	for _, c := range n.children {
		n.Children = append(n.Children, c.tree())
	}
	return n.Branch
}

// begin starts at the root of a session's tree.
func (w *walk) begin(ctx context.Context, h *sessions.Header) error {
	root, err := w.s.root(ctx, h.Origin)
	if err != nil {
		return err
	}
	if root == nil {
		root = nodeOf(h)
	}
	w.visit(root)
	return nil
}

// resume goes on after a session, where an earlier page ended.
func (w *walk) resume(ctx context.Context, h *sessions.Header, after string) error {
	at := strings.Split(after, "/")
	if len(at) != 4 {
		return notOfThisTree()
	}
	last, parent := spot{id: at[0], log: at[1]}, spot{id: at[2], log: at[3]}
	found, err := w.s.found(ctx, []spot{parent, last})
	if err != nil {
		return err
	}
	if parent.log == "" { // the last one was the root
		parent, last = last, spot{}
		found[0] = found[1]
	}
	if err := w.s.sessions.ReadAncestors(ctx, found[0].origin); err != nil {
		return err
	}
	if found[0].node == nil || rootLog(found[0].origin, parent.log) != rootLog(h.Origin, h.Log) {
		return notOfThisTree()
	}
	above, err := w.s.ancestors(ctx, found[0].origin)
	if err != nil {
		return err
	}
	for _, n := range append(above, found[0].node) {
		w.goOn(n)
	}
	if last.log != "" {
		w.path[len(w.path)-1].after = keys.PrefixChild + last.log
		if n := found[1].node; n != nil {
			w.goOn(n)
		}
	}
	return nil
}

// goOn goes down to a session that an earlier page has shown.
func (w *walk) goOn(n *node) {
	if len(w.path) > 0 {
		w.path[len(w.path)-1].after = keys.PrefixChild + n.log
	}
	w.push(n)
}

func notOfThisTree() error {
	return fault.Field(fault.InvalidCursor, "cursor", "does not name a session that is still in this tree: read it from the beginning")
}

// visit shows a session and goes down to it.
func (w *walk) visit(n *node) {
	w.push(n)
	w.shown++
}

func (w *walk) push(n *node) {
	if len(w.path) > 0 {
		n.parent = w.path[len(w.path)-1]
		n.parent.children = append(n.parent.children, n)
	}
	w.path, w.last = append(w.path, n), n
}

// run visits what follows.
func (w *walk) run(ctx context.Context) error {
	for depth := len(w.path) - 1; depth >= 0; {
		at := w.path[depth]
		if len(at.pending) == 0 && !at.whole {
			if err := w.s.readForks(ctx, at); err != nil {
				return err
			}
		}
		if len(at.pending) == 0 {
			depth-- // the root stays on the path
			if depth >= 0 {
				w.path = w.path[:depth+1]
			}
			continue
		}
		if w.limit > 0 && w.shown >= w.limit {
			w.next = w.last.ID + "/" + w.last.log + "/"
			if p := w.last.parent; p != nil {
				w.next += p.ID + "/" + p.log
			} else {
				w.next += "/"
			}
			return nil
		}
		n := at.pending[0]
		at.pending = at.pending[1:]
		w.visit(n)
		depth++
	}
	return nil
}

// readForks reads the next forks of a session.
func (s *Store) readForks(ctx context.Context, n *node) error {
	q := records.Prefix(keys.LogPK(n.log), keys.PrefixChild, true)
	if q.Limit = childrenAtOnce; n.after != "" {
		q.From = n.after + "\x00"
	}
	page, err := s.DB.Query(ctx, q)
	if err != nil {
		return err
	}
	var spots []spot
	for _, c := range records.DecodeItems[history.Child](ctx, s.Base, page.Items) {
		spots = append(spots, spot{id: c.Session, log: c.Log()})
	}
	found, err := s.found(ctx, spots)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.node != nil { // else it is about to be stored, or its forking was interrupted
			n.pending = append(n.pending, f.node)
		}
	}
	if n.whole = page.Next == nil; !n.whole {
		n.after = table.Text(page.Items[len(page.Items)-1], table.SK)
	}
	return nil
}

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
