package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Show returns an event as the session's readers see it. Inherited events have
// ids of the fork's own, which are always the same.
func (h *Header) Show(r session.Range, e session.Event) session.Event {
	e.SessionID = h.ID()
	e.Seq = r.Seq + e.Seq - r.From
	if r.Log == h.Log {
		return e
	}
	e.ID = session.PositionalID(e.Seq, uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.Log+"\x00"+e.ID)))
	taskID := func(id string) string { return h.InheritedID(r.Log, id) }
	if e.TaskID != "" {
		e.TaskID = taskID(e.TaskID)
	}
	fields := maps.Clone(e.Fields)
	for name, raw := range fields {
		fields[name] = session.RewriteForFork(raw, h.ID(), taskID)
	}
	e.Fields = fields
	return e
}

// Unforked is the condition that the session was not forked since it was read.
func (h *Header) Unforked() table.Condition {
	return table.And(h.SameLog(), records.Unchanged(HeaderForkCount, h.ForkCount))
}

// Lineage is a fork between a log that a session reads and the session itself: it
// may have changed what it took over.
type Lineage struct {
	Log      string `dynamodbav:"l" json:"l"`
	Gen      int64  `dynamodbav:"g" json:"g"`
	Base     int64  `dynamodbav:"n" json:"n"`
	From     string `dynamodbav:"f" json:"f"` // the log that it was forked from
	Position int64  `dynamodbav:"at" json:"at"`
	Tasks    int64  `dynamodbav:"t,omitempty" json:"t,omitempty"` // of the header when it was forked
	State    int64  `dynamodbav:"s,omitempty" json:"s,omitempty"` // as in Origin
	// Names are digests of the invocations in its own log when it was forked; empty if
	// these are too many, or not known.
	Names []byte `dynamodbav:"i,omitempty" json:"i,omitempty"`
}

// namesMost is how many invocations of a log the lineage of a fork names at most.
const namesMost = 32

// InvocationNames returns the digests of the invocations in a fork's own log, for the
// lineage of its forks.
func (s *Store) InvocationNames(ctx context.Context, h *Header) ([]byte, error) {
	q := records.KeysOnly(records.Prefix(keys.LogPK(h.Log), keys.PrefixInvocation, true))
	q.Limit = namesMost + 1
	page, err := s.DB.Query(ctx, q)
	if err != nil || len(page.Items) > namesMost {
		return nil, err
	}
	names := []byte{0} // not empty
	for _, item := range page.Items {
		names = binary.BigEndian.AppendUint16(names, digestOfName(table.Text(item, table.SK)[len(keys.PrefixInvocation):]))
	}
	return names, nil
}

// mayName reports whether a log may have an invocation.
func (l Lineage) mayName(id string) bool {
	for names := l.Names; len(names) > 2; names = names[2:] {
		if binary.BigEndian.Uint16(names[1:]) == digestOfName(id) {
			return true
		}
	}
	return len(l.Names) == 0
}

func digestOfName(id string) uint16 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint16(sum[:])
}

// Inherited implements owner.
func (s *reader) Inherited(ctx context.Context, l eventlog.Log, seq int64) (*eventlog.Record, error) {
	h, err := s.Header(ctx, l.User, l.Session)
	if err != nil {
		return nil, err
	}
	whole, err := h.Whole()
	if err != nil {
		return nil, err
	}
	ranges, err := whole.Walk(seq-1, 0, false, s.Markers(ctx)).Next(1)
	if err != nil {
		return nil, err
	}
	r := ranges[0]
	rec, err := s.logs.EntryCovering(ctx, r.Log, r.From)
	if err != nil {
		return nil, err
	}
	for i, e := range rec.Events {
		rec.Events[i] = h.Show(r, e)
	}
	return rec, nil
}

// The header of a fork has its nearest ancestors. What it shows of older ones, and which
// forks these are, is in items of the logs between, which never change and which all forks
// below share: a log stays while forks read it. Each of these items leads to the one before.

const (
	// recentForks is how many forks among its ancestors the header of a fork has at most.
	recentForks = 6
	// forksPerItem is how many an item has at most before another one begins.
	forksPerItem = 250
)

// Older refers to the older ancestors of a fork.
type Older struct {
	Log string `dynamodbav:"l" json:"l"` // the log with the item
}

// olderItem is some of the ancestors of the fork whose log it is in.
type olderItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	records.Body
}

// olderBody is the content of an olderItem.
type olderBody struct {
	Timeline []byte    `json:"t"` // the outline of all that its fork took over
	Lineage  []Lineage `json:"a"`
	Before   *Older    `json:"b,omitempty"`
}

// older is all older ancestors of a fork, with those of the items before.
type older struct {
	log      string
	outlines map[string]session.Outline // by the log of the item
	lineage  []Lineage
	body     olderBody // of the last item
}

// Ancestors returns the forks among a fork's ancestors, the nearest first.
func (o *Origin) Ancestors() []Lineage {
	if o.older == nil {
		return o.Lineage
	}
	return slices.Concat(o.Lineage, o.older.lineage)
}

// Root returns the log at the root of the tree that a fork is in.
func (o *Origin) Root() string {
	if above := o.Ancestors(); len(above) > 0 {
		return above[len(above)-1].From
	}
	return o.Log
}

// ReadAncestors completes an origin that was read: the older ancestors of a deep fork take
// another request, unless the instance has just read them.
func (s *reader) ReadAncestors(ctx context.Context, o *Origin) (err error) {
	if o == nil || o.Older == nil || o.older != nil {
		return nil
	}
	if known := s.older.Load(); known != nil && known.log == o.Older.Log {
		o.older = known
		return nil
	}
	var items []olderBody // the last one first
	for next := o.Older; next != nil; next = items[len(items)-1].Before {
		body, err := s.readOlder(ctx, next.Log)
		if err != nil {
			return fmt.Errorf("ancestors in log %s: %w", next.Log, err)
		}
		items = append(items, body)
	}
	all := &older{log: o.Older.Log, body: items[0], outlines: map[string]session.Outline{}}
	log := o.Older.Log
	for _, body := range items {
		if all.outlines[log], err = decodeOutline(body.Timeline); err != nil {
			return fmt.Errorf("ancestors in log %s: %w", log, err)
		}
		if all.lineage = append(all.lineage, body.Lineage...); body.Before != nil {
			log = body.Before.Log
		}
	}
	s.older.Store(all)
	o.older = all
	return nil
}

// readOlder reads one item. It never changes: only a lagging replica may lack it.
func (s *reader) readOlder(ctx context.Context, log string) (body olderBody, err error) {
	k := keys.AncestorsKey(log)
	attrs, err := s.DB.GetEventually(ctx, k)
	if err == nil && attrs == nil {
		attrs, err = s.DB.GetItem(ctx, k)
	}
	if err == nil && attrs == nil {
		err = fmt.Errorf("%w: the item is missing", table.ErrUnreadable)
	}
	var item olderItem
	if err == nil {
		err = table.Decode(attrs, &item)
	}
	if err == nil {
		err = s.content.Unpack(ctx, item.PK, item.Body, &body)
	}
	return body, err
}

// tookOver returns the outline of what the fork of a log took over, which its item has.
func (s *reader) tookOver(ctx context.Context, log string) (session.Outline, error) {
	if known := s.older.Load(); known != nil && known.outlines[log] != nil {
		return known.outlines[log], nil
	}
	body, err := s.readOlder(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("ancestors in log %s: %w", log, err)
	}
	return decodeOutline(body.Timeline)
}

// SplitAncestors moves what the header of a new fork need not have to the items that its
// source refers to, or to one of its own log, which it then returns.
func (s *Store) SplitAncestors(ctx context.Context, h, source *Header) (any, error) {
	o := h.Origin
	lineage := o.Lineage
	if o.Older = nil; len(lineage) <= recentForks {
		return nil, nil
	}
	all, err := decodeOutline(o.Inherited)
	if err != nil {
		return nil, err
	}
	if above := source.Origin.older; above != nil {
		o.Older, o.older = &Older{Log: above.log}, above
		if o.Lineage = lineage[:len(lineage)-len(above.lineage)]; len(o.Lineage) <= recentForks {
			return nil, nil
		}
		if n := len(above.body.Lineage); n+len(o.Lineage) <= forksPerItem { // in place of the last item
			o.Lineage, o.Older = slices.Concat(o.Lineage, above.body.Lineage), above.body.Before
			if all, err = all.Unkept(above.log, above.outlines[above.log]); err != nil {
				return nil, err
			}
		}
	}
	k := keys.AncestorsKey(h.Log)
	item := &olderItem{PK: k.PK, SK: k.SK}
	body := olderBody{Timeline: all.Encode(), Lineage: o.Lineage, Before: o.Older}
	if item.Body, err = s.content.Pack(ctx, k.PK, body, 0); err != nil {
		return nil, err
	}
	outlines := map[string]session.Outline{}
	if o.older != nil {
		outlines = maps.Clone(o.older.outlines)
	}
	outlines[h.Log] = all
	o.older = &older{log: h.Log, outlines: outlines, lineage: lineage, body: body}
	o.Lineage, o.Older, o.Inherited = nil, &Older{Log: h.Log}, all.Kept(h.Log).Encode()
	return item, nil
}

// The kinds of tasks that the log of a fork may store.
const (
	TasksOwn    int64 = 1 << iota // at positions of the log itself
	TasksCovers                   // in place of tasks that the fork took over
)

// StoresTasks reports whether a session's own log may store tasks of a kind. Forks note
// that before they do, so that forks of forks need not look.
func (h *Header) StoresTasks(kind int64) bool {
	return h.Origin == nil || h.Tasks&kind != 0
}

// Stores is StoresTasks for a fork among the ancestors.
func (l Lineage) Stores(kind int64) bool { return l.Tasks&kind != 0 }

// NoteTask notes that a session's own log is about to store a task at a position. It returns
// table.ErrConditionFailed if the session was forked since it was read: those forks must
// not show this task.
func (s *Store) NoteTask(ctx context.Context, h *Header, position int64) error {
	kind := TasksOwn
	if position <= h.Base() {
		kind = TasksCovers
	}
	if h.StoresTasks(kind) {
		return nil
	}
	noted := []table.Change{table.Set(table.Path{HeaderTasks}, h.Tasks|kind)}
	err := s.DB.Update(ctx, keys.SessionKey(h.ID()), noted, h.Unforked(), records.Unchanged(HeaderTasks, h.Tasks))
	if err == nil {
		h.Tasks |= kind
	}
	return err
}

// Root returns the log that the oldest of a fork's ancestors writes.
func (h *Header) Root() string {
	return h.Origin.Root()
}

// A task that a fork takes over has an id of the fork's own, which says in which log it was
// created, and under which id.

// createdIn returns the id that a fork, given by its log, gives to a task that was created
// in another log.
func createdIn(fork, log, id string) string {
	if out := id + "." + log + "." + fork; ids.Check("", out) == nil {
		return out
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fork+"\x00"+log+"\x00"+id)).String()
}

// cutCreatedIn is the inverse of createdIn; false for an id that it cannot have made, or
// only by a digest.
func cutCreatedIn(fork, id string) (log, of string, ok bool) {
	rest, ok := strings.CutSuffix(id, "."+fork)
	at := strings.LastIndexByte(rest, '.')
	if !ok || at <= 0 || at == len(rest)-1 {
		return "", "", false
	}
	return rest[at+1:], rest[:at], true
}

// InheritedID returns the id that a task of a log in the lineage has in this session.
func (h *Header) InheritedID(log, id string) string {
	if slices.ContainsFunc(h.Origin.Ancestors(), func(l Lineage) bool { return l.Log == log }) {
		if first, of, ok := cutCreatedIn(log, id); ok {
			return createdIn(h.Log, first, of)
		}
	}
	return createdIn(h.Log, log, id)
}

// MayInherit reports whether an id may be one that the session gives to an inherited task.
func (h *Header) MayInherit(id string) bool {
	if h.Origin == nil {
		return false
	}
	_, _, ok := cutCreatedIn(h.Log, id)
	digest, err := uuid.Parse(id)
	return ok || err == nil && digest.Version() == 5
}

// TaskOrigin returns in which log an inherited task was created, and under which id; false
// if its id does not say so.
func (h *Header) TaskOrigin(id string) (log, of string, ok bool) { return cutCreatedIn(h.Log, id) }
