package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// MissingSession is the error for a session that does not exist.
func MissingSession() error { return fault.Missing("Session") }

// CheckExists checks that the session of a log has not been deleted: what was read of the
// log before is then complete.
func (s *reader) CheckExists(ctx context.Context, log string) error {
	found, err := s.DB.Get(ctx, keys.TasksDeletedKey(log), &struct{}{})
	if err == nil && found {
		err = MissingSession()
	}
	return err
}

// seemsToExist is CheckExists at half the price, by a read that may miss a deletion of
// this moment.
func (s *reader) seemsToExist(ctx context.Context, log string) error {
	item, err := s.DB.GetEventually(ctx, keys.TasksDeletedKey(log))
	if err == nil && item != nil {
		err = MissingSession()
	}
	return err
}

// DeletedOr returns NotFound when the session of a log was deleted during an operation
// that failed with err, and err otherwise.
func (s *reader) DeletedOr(ctx context.Context, log string, err error) error {
	var known *fault.Error
	if err == nil || errors.Is(err, table.ErrConditionFailed) || errors.Is(err, ErrRewound) ||
		(errors.As(err, &known) && known.Kind != fault.NotFound) {
		return err
	}
	if gone := s.CheckExists(ctx, log); errors.Is(gone, fault.Of(fault.NotFound)) {
		return gone
	}
	return err
}

// tombstone occupies a position of a log that accepts no more entries.
type tombstone struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	Tombstone bool   `dynamodbav:"g"`
}

// Hold is the write of a tombstone at a position that is free.
func Hold(log string, position int64) table.Write {
	return table.Put(tombstone{PK: keys.LogPK(log), SK: keys.EntrySK(position), Tombstone: true}, table.ItemNotExists())
}

// HoldNext occupies the next position of a deleted session's log, which begins after base: an
// append that has read the head before the deletion then finds the deletion instead of the
// position. It competes only with such appends, one of which gets each position, and with the
// next append of an instance that remembers the head after it: every other append reads the
// deletion, or confirms what it has put. Nobody appends to a log whose newest entry cannot be
// read.
func (s *Store) HoldNext(ctx context.Context, log string, base int64) error {
	err := records.ContendedBriefly(ctx, func() error {
		next, err := s.nextPosition(ctx, log, base)
		if err != nil {
			return err
		}
		return s.DB.Write(ctx, Hold(log, next))
	})
	if errors.Is(err, table.ErrUnreadable) {
		s.Log.WarnContext(ctx, "the next position of a deleted log is not held", "log", log, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("hold the next position of log %s: %w", log, err)
	}
	return nil
}

// nextPosition returns the position after the newest entry of a log, which may be deleted.
func (s *Store) nextPosition(ctx context.Context, log string, base int64) (int64, error) {
	item, err := s.EntryItemAt(ctx, log, keys.MaxPosition)
	if err != nil || item == nil {
		return base + 1, err
	}
	var newest Entry
	if err := table.Decode(item, &newest); err != nil {
		return 0, err
	}
	first, err := newest.First()
	if err != nil {
		return 0, errors.Join(table.ErrUnreadable, err)
	}
	return first + newest.Positions(), nil
}
