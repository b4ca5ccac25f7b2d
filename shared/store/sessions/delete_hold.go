package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/records"
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
	return table.Put(tombstone{PK: logPK(log), SK: entrySK(position), Tombstone: true}, table.ItemNotExists())
}

// holdNext occupies the next position of a deleted session's log. Readers of the log see
// the deletion, but an instance that remembers the head puts the next entry without a read.
// It does so for headTime at most, so the deletion gets the position in the end. No
// instance remembers the head of a log without entries, or one that it cannot read.
func (s *Store) holdNext(ctx context.Context, log string) error {
	err := records.ContendedWithin(ctx, contentionWait, func() error {
		next, err := s.nextPosition(ctx, log)
		if err != nil || next == 0 {
			return err
		}
		return s.db.Write(ctx, hold(log, next))
	})
	if errors.Is(err, table.ErrUnreadable) {
		s.log.WarnContext(ctx, "the next position of a deleted log is not held", "log", log, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("hold the next position of log %s: %w", log, err)
	}
	return nil
}

// nextPosition returns the position after the newest entry of a log, which may be deleted;
// 0 if the log has no entry.
func (s *Store) nextPosition(ctx context.Context, log string) (int64, error) {
	item, err := s.entryItemAt(ctx, log, maxPosition)
	if err != nil || item == nil {
		return 0, err
	}
	var newest struct {
		Count int64 `dynamodbav:"n"`
	}
	if err := table.Decode(item, &newest); err != nil {
		return 0, err
	}
	first, err := positionOf(table.Text(item, attrSK))
	if err != nil {
		return 0, errors.Join(table.ErrUnreadable, err)
	}
	return first + max(1, newest.Count), nil
}
