package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// tombstone occupies a position of a log that accepts no more entries.
type tombstone struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	Tombstone bool   `dynamodbav:"g"`
}

// hold is the write of a tombstone at a position that is free.
func hold(log string, position int64) table.Write {
	return table.Put(tombstone{PK: keys.LogPK(log), SK: keys.EntrySK(position), Tombstone: true}, table.ItemNotExists())
}

// holdNext occupies the next position of a deleted session's log: an append that has read the
// head before the deletion then finds the deletion instead of the position. It competes only
// with such appends, one of which gets each position, and with the next append of an instance
// that remembers the head after it: every other append reads the deletion, or confirms what it
// has put. Nobody appends to a log whose newest entry cannot be read.
func (s *Store) holdNext(ctx context.Context, h *sessions.Header) error {
	err := records.ContendedWithin(ctx, eventlog.ContentionWait, func() error {
		next, err := s.nextPosition(ctx, h)
		if err != nil {
			return err
		}
		return s.DB.Write(ctx, hold(h.Log, next))
	})
	if errors.Is(err, table.ErrUnreadable) {
		s.Log.WarnContext(ctx, "the next position of a deleted log is not held", "log", h.Log, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("hold the next position of log %s: %w", h.Log, err)
	}
	return nil
}

// nextPosition returns the position after the newest entry of a log, which may be deleted.
func (s *Store) nextPosition(ctx context.Context, h *sessions.Header) (int64, error) {
	item, err := s.logs.EntryItemAt(ctx, h.Log, keys.MaxPosition)
	if err != nil || item == nil {
		return h.Base() + 1, err
	}
	var newest eventlog.Entry
	if err := table.Decode(item, &newest); err != nil {
		return 0, err
	}
	first, err := newest.First()
	if err != nil {
		return 0, errors.Join(table.ErrUnreadable, err)
	}
	return first + newest.Positions(), nil
}
