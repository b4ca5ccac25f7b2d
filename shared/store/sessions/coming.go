package sessions

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// arriving are the writes that go along with a new session's header, which it
// completes: the timer of one that is not kept for ever, the count of those that
// a user may have only so many of. Without either a session costs nothing more.
func (s *Store) arriving(h *header) ([]types.TransactWriteItem, error) {
	var writes []types.TransactWriteItem
	if h.Kept > 0 {
		put, err := s.setTimer(h, max(h.Created, h.Touched))
		if err != nil {
			return nil, err
		}
		writes = append(writes, put)
	}
	if count, counts := s.countArriving(h); counts {
		writes = append(writes, count)
	}
	return writes, nil
}

// leaving are the writes that go along with a session's deletion.
func (s *Store) leaving(ctx context.Context, h *header) ([]types.TransactWriteItem, error) {
	var writes []types.TransactWriteItem
	if h.Kept > 0 {
		writes = append(writes, s.transactDelete(timerKey(h.Log), condition{}))
	}
	if spend, keyed := s.spendKey(h); keyed {
		writes = append(writes, spend)
	}
	count, counts, err := s.countLeaving(ctx, h)
	if counts {
		writes = append(writes, count)
	}
	return writes, err
}
