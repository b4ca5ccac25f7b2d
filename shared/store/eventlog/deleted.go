package eventlog

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// ErrMissingEntry says that a log lacks an entry that it must contain.
var ErrMissingEntry = errors.New("an entry is missing")

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
