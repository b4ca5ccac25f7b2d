package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sweep"

	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// tombstonePage is how many entries are read at a time to find recent ones.
const tombstonePage = 20

// clear removes everything in a log's partition except the record of the pending
// removal.
func (s *Store) clear(ctx context.Context, log string) error {
	return s.clearExcept(ctx, log, func(table.Item) bool { return false })
}

// clearKeepingPositions is clear while requests may be under way that read the
// session before it was deleted. No position that they may write to becomes free:
// tombstones keep recent ones, and what follows the head is left alone, since the
// first item stored there must stay the only one.
func (s *Store) clearKeepingPositions(ctx context.Context, log string) error {
	next, err := s.tombstoneRecent(ctx, log)
	if err != nil {
		return fmt.Errorf("hold the positions of log %s: %w", log, err)
	}
	return s.clearExcept(ctx, log, func(item table.Item) bool {
		sk := table.Text(item, table.SK)
		return sk == keys.SkTasksDeleted ||
			(strings.HasPrefix(sk, keys.PrefixEntry) && (sk >= keys.EntrySK(next) || item[keys.AttrTombstone] != nil))
	})
}

// tombstoneRecent replaces the entries of the last sweep.Grace by tombstones: a
// writer that is still under way may have read the log before they were written. It
// returns the position after the head.
func (s *Store) tombstoneRecent(ctx context.Context, log string) (next int64, err error) {
	since := s.millis() - sweep.Grace.Milliseconds()
	q := entryQuery(log, 0, keys.MaxPosition, true)
	q.Descending, q.Limit = true, tombstonePage
	err = s.db.Pages(ctx, q, func(page []table.Item) (bool, error) {
		var stubs []table.Write
		for _, item := range page {
			var e entry
			if err := table.Decode(item, &e); err != nil {
				return false, fmt.Errorf("unmarshal a log entry: %w", err)
			}
			first, err := e.first()
			if err != nil {
				return false, err
			}
			next = max(next, first+e.count())
			if e.Tombstone {
				continue
			}
			recent, err := s.appendedAfter(&e, since)
			if err != nil {
				return false, err
			}
			if !recent {
				return false, s.db.BatchWrite(ctx, stubs)
			}
			stubs = append(stubs, table.Put(entry{PK: e.PK, SK: e.SK, Tombstone: true}))
		}
		return true, s.db.BatchWrite(ctx, stubs)
	})
	return next, err
}

// appendedAfter reports whether an entry was appended after a time. It is true for
// an entry of an earlier version whose body continues in chunks.
func (s *Store) appendedAfter(e *entry, millis int64) (bool, error) {
	if e.Blob != "" {
		return e.Time == 0 || e.Time > millis, nil
	}
	var content entryBody
	if err := s.content.Decode(e.Inline, &content); err != nil {
		return false, fmt.Errorf("log entry %s %s: %w", e.PK, e.SK, err)
	}
	return content.Time > millis, nil
}

// clearExcept removes everything in a log's partition except the record of the
// pending removal and what keep selects.
func (s *Store) clearExcept(ctx context.Context, log string, keep func(table.Item) bool) error {
	q := keysOnly(records.Partition(keys.LogPK(log)))
	return s.db.Pages(ctx, q, func(page []table.Item) (bool, error) {
		var doomed []table.Item
		for _, item := range page {
			sk := table.Text(item, table.SK)
			if sk == keys.SkDeleted || keep(item) {
				continue
			}
			if feedback, ok := strings.CutPrefix(sk, keys.PrefixFeedback); ok {
				owner := table.Text(item, keys.AttrOwner)
				_, id, _ := strings.Cut(feedback, "#")
				doomed = append(doomed,
					table.NewKey(keys.FeedbackPK(owner), feedback).Item(), keys.FeedbackTimeKey(owner, id).Item())
			}
			if task, ok := strings.CutPrefix(sk, keys.PrefixLink); ok {
				doomed = append(doomed, keys.LinkKey(table.Text(item, keys.AttrOwner), task).Item())
				if guest := table.Text(item, keys.AttrGuest); guest != "" {
					doomed = append(doomed, keys.LinkKey(guest, task).Item())
				}
			}
			doomed = append(doomed, item)
		}
		return true, s.db.DeleteItems(ctx, doomed)
	})
}
