package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

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
	Log    string `dynamodbav:"l" json:"l"` // the log with the item
	Ranges int    `dynamodbav:"r" json:"r"` // how many of its ranges the fork took over
}

// olderItem is some of the ancestors of the fork whose log it is in.
type olderItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	content.Body
}

// olderBody is the content of an olderItem.
type olderBody struct {
	Timeline []byte    `json:"t"`
	Lineage  []Lineage `json:"a"`
	Before   *Older    `json:"b,omitempty"`
}

// older is all older ancestors of a fork, with those of the items before.
type older struct {
	log     string
	ranges  session.Timeline
	lineage []Lineage
	body    olderBody // of the last item
}

var errAncestorsNotRead = errors.New("the older ancestors of the fork were not read")

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

// inherited returns what the fork took over.
func (o *Origin) inherited() (session.Timeline, error) {
	if o.Older == nil {
		return session.DecodeTimeline(o.Inherited)
	}
	recent, err := session.DecodeTimeline(o.Recent)
	if err != nil {
		return nil, err
	}
	if o.older == nil || o.Older.Ranges > len(o.older.ranges) {
		return nil, errAncestorsNotRead
	}
	return slices.Concat(o.older.ranges[:o.Older.Ranges], recent), nil
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
	all := &older{log: o.Older.Log, body: items[0]}
	for _, body := range slices.Backward(items) {
		own, err := session.DecodeTimeline(body.Timeline)
		if err == nil && body.Before != nil && body.Before.Ranges > len(all.ranges) {
			err = errAncestorsNotRead
		}
		if err != nil {
			return fmt.Errorf("ancestors in log %s: %w: %w", o.Older.Log, table.ErrUnreadable, err)
		}
		if body.Before != nil {
			all.ranges = all.ranges[:body.Before.Ranges]
		}
		all.ranges, all.lineage = slices.Concat(all.ranges, own), slices.Concat(body.Lineage, all.lineage)
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

// SplitAncestors moves what the header of a new fork need not have to the items that its
// source refers to, or to one of its own log, which it then returns.
func (s *Store) SplitAncestors(ctx context.Context, h, source *Header) (any, error) {
	o := h.Origin
	lineage := o.Lineage
	if o.Older = nil; len(lineage) <= recentForks {
		return nil, nil
	}
	all, err := session.DecodeTimeline(o.Inherited)
	if err != nil {
		return nil, err
	}
	var above *older
	if source.Origin != nil {
		above = source.Origin.older
	}
	if above != nil {
		o.share(above, all, above.log, source.Origin.Older.Ranges)
		if len(o.Lineage) <= recentForks {
			return nil, nil
		}
		if n := len(above.body.Lineage); n+len(o.Lineage) <= forksPerItem { // in place of the last item
			o.Lineage = slices.Concat(o.Lineage, above.body.Lineage)
			before := above.body.Before
			if o.Older = nil; before != nil {
				o.cut(all, before.Log, common(all, above.ranges[:before.Ranges]))
			}
		}
	}
	k := keys.AncestorsKey(h.Log)
	item := &olderItem{PK: k.PK, SK: k.SK}
	if o.Older == nil {
		o.Recent = all.Encode()
	}
	body := olderBody{Timeline: o.Recent, Lineage: o.Lineage, Before: o.Older}
	if item.Body, err = s.content.Pack(ctx, k.PK, body, 0); err != nil {
		return nil, err
	}
	o.older = &older{log: h.Log, ranges: all, lineage: lineage, body: body}
	o.Lineage = nil
	o.cut(all, h.Log, len(all))
	return item, nil
}

// share leaves out what a source has in its items.
func (o *Origin) share(above *older, all session.Timeline, log string, ranges int) {
	o.cut(all, log, common(all, above.ranges[:ranges]))
	o.Lineage, o.older = o.Lineage[:len(o.Lineage)-len(above.lineage)], above
}

// cut leaves out the first ranges, which the item of a log has.
func (o *Origin) cut(all session.Timeline, log string, n int) {
	o.Older, o.Inherited, o.Recent = &Older{Log: log, Ranges: n}, nil, all[n:].Encode()
}

// common returns how many leading ranges two timelines have in common.
func common(a, b session.Timeline) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// EncodeTimeline encodes a timeline of the session for its header or a marker: that of a
// deep fork refers to what the fork took over.
func (h *Header) EncodeTimeline(t session.Timeline) ([]byte, error) {
	if h.Origin == nil || h.Origin.older == nil {
		return t.Encode(), nil
	}
	inherited, err := h.Inherited()
	return t.EncodeAfter(inherited), err
}

// DecodeTimeline decodes the output of EncodeTimeline.
func (h *Header) DecodeTimeline(b []byte) (session.Timeline, error) {
	inherited, err := h.Inherited()
	if err != nil {
		return nil, err
	}
	return session.DecodeTimelineAfter(inherited, b)
}
