package dynamostore

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/quota"
)

const (
	// recountEvery is how often at most a user's sessions are counted who has
	// reached the limit.
	recountEvery = time.Minute
	// indexLag is how long after a session was made the index surely has it.
	indexLag = 5 * time.Second
)

// admitSession says whether the user may have one more session: fault.Busy
// where not. The creation itself counts, by what arriving adds to it, so that
// racing ones do not exceed the limit.
func (s *Store) admitSession(ctx context.Context, user string) error {
	if s.quotas.Sessions == 0 {
		return nil
	}
	for try := 0; ; try++ {
		q, err := s.quotaItem(ctx, user)
		if err != nil {
			return err
		}
		n := derefOr(q.Sessions)
		if q.Sessions != nil && n < s.quotas.Sessions {
			return nil
		}
		if now := s.now(); q.Sessions != nil &&
			(now.Sub(time.UnixMilli(q.Counted)) < recountEvery || now.Sub(time.UnixMilli(q.Moved)) < indexLag) {
			return quota.Exceeded(quota.Sessions, s.quotas.Sessions, n, recountEvery)
		}
		n, err = s.recountSessions(ctx, user, q)
		switch {
		case err == nil && n < s.quotas.Sessions:
			return nil
		case err == nil:
			return quota.Exceeded(quota.Sessions, s.quotas.Sessions, n, recountEvery)
		case !errors.Is(err, errTaken):
			return err
		}
		if err := backoff(ctx, try); err != nil {
			return err
		}
	}
}

// countArriving counts a session that is made, in the transaction that makes it.
// One that was made uncounted never counts: its deletion must not either.
func (s *Store) countArriving(h *header) (types.TransactWriteItem, bool) {
	if s.quotas.Sessions == 0 {
		return types.TransactWriteItem{}, false
	}
	h.Counted = true
	return s.transactUpdate(quotaKey(h.User), "SET #nt = :now ADD #n :one", condition{
		expression: "#n < :limit",
		names:      map[string]string{"#n": "n", "#nt": "nt"},
		values:     attributes{":now": num(s.millis()), ":one": num(1), ":limit": num(s.quotas.Sessions)},
	}), true
}

// countLeaving takes a session that was counted off the count, unless that was
// forgotten meanwhile.
func (s *Store) countLeaving(ctx context.Context, h *header) (_ types.TransactWriteItem, counts bool, err error) {
	if !h.Counted {
		return types.TransactWriteItem{}, false, nil
	}
	q, err := s.quotaItem(ctx, h.User)
	if err != nil || q.Sessions == nil {
		return types.TransactWriteItem{}, false, err
	}
	return s.transactUpdate(quotaKey(h.User), "ADD #n :less", condition{
		expression: "attribute_exists(#n)",
		names:      map[string]string{"#n": "n"},
		values:     attributes{":less": num(-1)},
	}), true, nil
}
