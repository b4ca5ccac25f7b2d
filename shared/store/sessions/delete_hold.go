package sessions

import (
	"context"
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

// holdNext occupies the next position of a deleted session's log. Whoever reads the log
// finds out that it was deleted; but an instance that remembers its head puts the next
// entry without a read. It does so for headTime at most, so that the deletion gets the
// position in the end. Nobody remembers the head of a log without entries.
func (s *Store) holdNext(ctx context.Context, log string) error {
	err := records.ContendedWithin(ctx, contentionWait, func() error {
		newest, err := s.newestEntry(ctx, log)
		if err != nil || newest == nil {
			return err
		}
		first, err := newest.first()
		if err != nil {
			return err
		}
		return s.db.Write(ctx, hold(log, first+newest.count()))
	})
	if err != nil {
		return fmt.Errorf("hold the next position of log %s: %w", log, err)
	}
	return nil
}

// newestEntry returns the newest entry of a log, which may be deleted, as stored; nil if
// it has none.
func (s *Store) newestEntry(ctx context.Context, log string) (*entry, error) {
	q := entryQuery(log, 0, maxPosition, true)
	q.Descending, q.Limit = true, 1
	page, err := s.db.Query(ctx, q)
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	var e entry
	err = table.Decode(page.Items[0], &e)
	return &e, err
}
