package eventlog

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// EntryAtOrBefore reads the entry that covers a position, or the latest one for
// position 0; nil if the log has none.
func (s *reader) EntryAtOrBefore(ctx context.Context, log string, position int64) (*Record, error) {
	r, err := s.EntryAt(ctx, log, position)
	if err == nil && r != nil && r.Unreadable != nil {
		return nil, r.Unreadable
	}
	return r, err
}

// EntryAt is EntryAtOrBefore for readers that skip an unreadable entry.
func (s *reader) EntryAt(ctx context.Context, log string, position int64) (*Record, error) {
	item, err := s.EntryItemAt(ctx, log, position)
	if err != nil || item == nil {
		return nil, err
	}
	return s.decodeShown(ctx, item)
}

// EntryItemAt is EntryAt as stored.
func (s *reader) EntryItemAt(ctx context.Context, log string, position int64) (table.Item, error) {
	q := records.Prefix(keys.LogPK(log), keys.PrefixEntry, true)
	if position > 0 {
		q.To = keys.EntrySK(position)
	}
	q.Descending, q.Limit = true, 1
	page, err := s.DB.Query(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the head of log %s: %w", log, err)
	}
	if len(page.Items) == 0 {
		return nil, nil
	}
	return page.Items[0], nil
}

// EntryQuery selects the entries that begin at the positions from to to, in order;
// to 0 is the end of the log, where a tombstone shows whether the log was deleted.
func EntryQuery(log string, from, to int64, consistent bool) table.Query {
	end := keys.SkDeleted
	if to > 0 {
		end = keys.EntrySK(to)
	}
	return records.Range(keys.LogPK(log), keys.EntrySK(from), end, consistent)
}

// firstRead is how many entries a scan reads at first: most scans find their entry
// at once, and a request costs what it reads.
const firstRead = 2

// Scan visits the records that begin at the positions from to to, strongly
// consistent, until they end or visit returns false; to 0 is the head.
func (s *reader) Scan(
	ctx context.Context, log string, from, to int64, visit func(*Record) (more bool, err error),
) error {
	return s.queryRecords(ctx, EntryQuery(log, from, to, true), growing(), visit)
}

// ScanDown is Scan from the position to back to from, latest first; each request reads so
// many entries as a page has.
func (s *reader) ScanDown(
	ctx context.Context, log string, from, to int64, page int, visit func(*Record) (more bool, err error),
) error {
	if to < from {
		return nil
	}
	q := EntryQuery(log, from, to, true)
	q.Descending = true
	return s.queryRecords(ctx, q, func() int { return page }, visit)
}

// growing returns the limits of the requests of a search.
func growing() func() int {
	limit := firstRead
	return func() int {
		now := limit
		limit = min(4*limit, 1000)
		return now
	}
}

// queryRecords visits the records that a query finds; before each request limit
// returns how many it may read, 0 for as many as fit into a page.
func (s *reader) queryRecords(
	ctx context.Context, q table.Query, limit func() int, visit func(*Record) (more bool, err error),
) error {
	for {
		q.Limit = limit()
		page, err := s.DB.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("query entries: %w", err)
		}
		for _, item := range page.Items {
			r, err := s.decodeShown(ctx, item)
			if err != nil {
				return err
			}
			if more, err := visit(r); err != nil || !more {
				return err
			}
		}
		if q.After = page.Next; q.After == nil {
			return nil
		}
	}
}
