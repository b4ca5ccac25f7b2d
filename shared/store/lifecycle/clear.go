package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// tombstonePage is how many entries are read at a time to find recent ones.
const tombstonePage = 20

// clearKeepingPositions is clear while requests may be under way that read the
// session before it was deleted. No position that they may write to becomes free:
// tombstones keep recent ones, and what follows the head is left alone, since the
// first item stored there must stay the only one.
func (s *Store) clearKeepingPositions(ctx context.Context, log string) error {
	next, err := s.tombstoneRecent(ctx, log)
	if err != nil {
		return fmt.Errorf("hold the positions of log %s: %w", log, err)
	}
	return s.sessions.ClearExcept(ctx, log, func(item table.Item) bool {
		sk := table.Text(item, table.SK)
		return sk == keys.SkTasksDeleted ||
			(strings.HasPrefix(sk, keys.PrefixEntry) && (sk >= keys.EntrySK(next) || item[keys.AttrTombstone] != nil))
	})
}

// tombstoneRecent replaces the entries of the last sweep.Grace by tombstones: a
// writer that is still under way may have read the log before they were written. It
// returns the position after the head.
func (s *Store) tombstoneRecent(ctx context.Context, log string) (next int64, err error) {
	since := s.Millis() - sweep.Grace.Milliseconds()
	q := eventlog.EntryQuery(log, 0, keys.MaxPosition, true)
	q.Descending, q.Limit = true, tombstonePage
	err = s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		var stubs []table.Write
		for _, item := range page {
			var e eventlog.Entry
			if err := table.Decode(item, &e); err != nil {
				return false, fmt.Errorf("unmarshal a log entry: %w", err)
			}
			first, err := e.First()
			if err != nil {
				return false, err
			}
			next = max(next, first+e.Positions())
			if e.Tombstone {
				continue
			}
			recent, err := s.appendedAfter(&e, since)
			if err != nil {
				return false, err
			}
			if !recent {
				return false, s.DB.BatchWrite(ctx, stubs)
			}
			stubs = append(stubs, table.Put(eventlog.Entry{PK: e.PK, SK: e.SK, Tombstone: true}))
		}
		return true, s.DB.BatchWrite(ctx, stubs)
	})
	return next, err
}

// appendedAfter reports whether an entry was appended after a time. It is true for
// a streamed entry whose body continues in chunks.
func (s *Store) appendedAfter(e *eventlog.Entry, millis int64) (bool, error) {
	if e.Blob != "" {
		return e.Time == 0 || e.Time > millis, nil
	}
	var content eventlog.EntryBody
	if err := s.content.Decode(e.Inline, &content); err != nil {
		return false, fmt.Errorf("log entry %s %s: %w", e.PK, e.SK, err)
	}
	return content.Time > millis, nil
}
