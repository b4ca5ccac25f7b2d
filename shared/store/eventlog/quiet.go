package eventlog

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Nobody watches most items in progress, so their segments are quiet: the filter of
// the fan-out leaves out the records of a quiet segment. Four rules keep watchers
// from missing anything:
//
//   - A segment may become loud, but not quiet again. Its whole content is announced
//     when it becomes loud.
//   - A writer reads the watchers after it has stored a new quiet segment, and makes
//     the segment loud if there are any.
//   - A watcher is stored before its connection catches up, and the catch-up makes the
//     last segment loud before it reads the item.
//   - The condition of a write to a quiet segment is that it is still quiet.
//
// So a watcher is stored either before a segment, whose writer then finds it, or after
// it, and then finds the segment. A writer that reads a quiet segment of another one,
// which may have stopped before it read the watchers, reads them instead.

// Watching tells whether a log has watchers.
type Watching interface {
	// Watched reports whether anybody watches a log, by one strongly consistent read.
	Watched(ctx context.Context, log string) (bool, error)
}

// AttachWatching sets who knows the watchers; without it, segments are never quiet. It
// is called before the store is used.
func (s *Store) AttachWatching(w Watching) { s.watching = w }

// watched reports whether anybody watches the item. If that cannot be read, somebody
// may.
func (it *Item) watched(ctx context.Context) bool {
	if it.s.watching == nil {
		return true
	}
	watched, err := it.s.watching.Watched(ctx, it.Log.Name)
	if err != nil {
		it.s.Log.WarnContext(ctx, "the watchers of an answer could not be read; it is announced",
			"session_id", it.Log.Session, "error", err)
	}
	return watched || err != nil
}

// announce makes the last segment loud if it is quiet and somebody watches. If that
// fails, the next write tries again: the deltas are stored.
func (it *Item) announce(ctx context.Context) {
	it.quiet, it.unchecked = !it.watched(ctx), false
	if it.quiet || !it.tail.Quiet {
		return
	}
	if err := it.s.makeLoud(ctx, table.NewKey(it.tail.PK, it.tail.SK)); err != nil {
		it.unchecked = true
		it.s.Log.WarnContext(ctx, "a part of an answer is announced late", "session_id", it.Log.Session, "error", err)
		return
	}
	it.tail.Quiet = false
}

// Wake makes the last segment of the item in progress loud, for a watcher that is
// stored already; at was read after that.
func (s *Store) Wake(ctx context.Context, log string, head Head) error {
	if head.Open == 0 {
		return nil
	}
	q := records.Prefix(keys.LogPK(log), keys.SegmentPrefix(head.Open), true)
	q.Descending, q.Limit = true, 1
	page, err := s.DB.Query(ctx, q)
	if err != nil {
		return fmt.Errorf("read the last segment: %w", err)
	}
	if len(page.Items) == 0 || page.Items[0][segmentQuiet] == nil || page.Items[0][segmentClosed] != nil {
		return nil
	}
	return s.makeLoud(ctx, records.KeyOf(page.Items[0]))
}

// makeLoud makes a segment loud; one that is loud, or gone, stays so.
func (s *Store) makeLoud(ctx context.Context, segment table.Key) error {
	quiet := table.Path{segmentQuiet}
	err := s.DB.Update(ctx, segment, []table.Change{table.Remove(quiet)}, table.Equal(quiet, true))
	return records.Ignoring(err, table.ErrConditionFailed)
}
