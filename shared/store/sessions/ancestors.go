package sessions

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
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
