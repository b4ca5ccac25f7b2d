package eventlog

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// Entries that lead back from one to another are read by pages if they are at most
	// nearBy positions apart: the first page has one entry, each further one pageGrowth
	// times as many, up to pageMost.
	nearBy     = 32
	pageGrowth = 4
	pageMost   = 1000
)

// backwards reads entries of a log whose links lead from the latest to the first.
type backwards struct {
	s     *reader
	log   string
	until int64        // what is before it is seldom needed
	page  []table.Item // latest first
	from  int64        // the position that the page was read for; 0 before the first
	limit int
}

// covering returns the entry that covers a position, which is before that of the last call.
func (b *backwards) covering(ctx context.Context, position int64) (*Record, error) {
	item, err := b.find(position)
	if err == nil && item == nil {
		if err = b.read(ctx, position); err == nil {
			item, err = b.find(position)
		}
	}
	if err != nil {
		return nil, err
	}
	if item == nil {
		return nil, missingEntry(b.log, position)
	}
	r, err := b.s.decodeShown(ctx, item)
	switch {
	case err != nil:
		return nil, err
	case r.Unreadable != nil:
		return nil, r.Unreadable
	case r.Last() < position:
		return nil, missingEntry(b.log, position)
	}
	return r, nil
}

// find drops the items after a position, and returns the next one, nil for none.
func (b *backwards) find(position int64) (table.Item, error) {
	for ; len(b.page) > 0; b.page = b.page[1:] {
		first, err := keys.PositionOf(table.Text(b.page[0], table.SK))
		if err != nil {
			return nil, err
		}
		if first <= position {
			return b.page[0], nil
		}
	}
	return nil, nil
}

func (b *backwards) read(ctx context.Context, position int64) error {
	switch near := b.from-position <= int64(max(nearBy, pageGrowth*b.limit)); {
	case b.from > 0 && near:
		b.limit = min(pageGrowth*b.limit, pageMost)
	default:
		b.limit = 1
	}
	b.from = position
	q := records.Prefix(keys.LogPK(b.log), keys.PrefixEntry, true)
	q.To, q.Descending = keys.EntrySK(position), true
	q.Limit = min(b.limit, int(max(0, position-b.until))+2) // the last may begin before until
	page, err := b.s.DB.Query(ctx, q)
	if err != nil {
		return fmt.Errorf("read log %s before %d: %w", b.log, position, err)
	}
	b.page = page.Items
	return nil
}
