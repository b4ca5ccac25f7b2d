package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/table"
)

// errMissingEntry says that a log lacks an entry that it must contain.
var errMissingEntry = errors.New("an entry is missing")

func missingSession() error { return fault.Missing("Session") }

// checkExists checks that the session of a log has not been deleted: what was read of the
// log before is then complete.
func (s *Store) checkExists(ctx context.Context, log string) error {
	found, err := s.db.Get(ctx, keys.TasksDeletedKey(log), &struct{}{})
	if err == nil && found {
		err = missingSession()
	}
	return err
}

// seemsToExist is checkExists at half the price, by a read that may miss a deletion of
// this moment.
func (s *Store) seemsToExist(ctx context.Context, log string) error {
	item, err := s.db.GetEventually(ctx, keys.TasksDeletedKey(log))
	if err == nil && item != nil {
		err = missingSession()
	}
	return err
}

// deletedOr returns NotFound when the session of a log was deleted during an operation
// that failed with err, and err otherwise.
func (s *Store) deletedOr(ctx context.Context, log string, err error) error {
	var known *fault.Error
	if err == nil || errors.Is(err, table.ErrConditionFailed) || errors.Is(err, errRewound) ||
		(errors.As(err, &known) && known.Kind != fault.NotFound) {
		return err
	}
	if gone := s.checkExists(ctx, log); errors.Is(gone, fault.Of(fault.NotFound)) {
		return gone
	}
	return err
}
