package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
)

var _ access.Evictor = (*Store)(nil)

// A guest's seat is taken in one transaction with a look at his share. So once
// the share is gone no seat of it can be taken any more, those that were are
// found by one read, and whoever reads the seats after they were marked tells
// none of these guests anything but that it is over.

// Evict implements access.Evictor: the share must be gone. The seats are marked
// rather than removed, since the connections are to be told: the fan-out does
// it when it hears that the share is gone.
func (s *Store) Evict(ctx context.Context, log, shareID string) error {
	return s.evictWhere(ctx, log, func(g watch.Grant) bool { return g.Share == shareID })
}

// EvictUser is Evict for one of those whom the share let in.
func (s *Store) EvictUser(ctx context.Context, log, shareID, userID string) error {
	return s.evictWhere(ctx, log, func(g watch.Grant) bool { return g.Share == shareID && g.UserID == userID })
}

// evictAtOnce is how many seats one update marks; each takes part in its
// condition, too.
const evictAtOnce = 50

func (s *Store) evictWhere(ctx context.Context, log string, whom func(watch.Grant) bool) error {
	for try := 0; ; {
		_, seats, err := s.Watchers(ctx, log)
		if err != nil {
			return fmt.Errorf("find whom to evict from log %s: %w", log, err)
		}
		seats = slices.DeleteFunc(seats, func(seat watch.Seat) bool { return !seat.Guest() || !whom(seat.Grant) })
		if len(seats) == 0 {
			return nil
		}
		err = s.markRevoked(ctx, log, seats[:min(len(seats), evictAtOnce)])
		if errors.Is(err, errTaken) { // one of them left, or has another seat by now
			err = backoff(ctx, try)
			try++
		}
		if err != nil {
			return fmt.Errorf("evict from log %s: %w", log, err)
		}
	}
}

// markRevoked marks seats, all or none, if they are as they were read.
func (s *Store) markRevoked(ctx context.Context, log string, seats []watch.Seat) error {
	c := condition{names: map[string]string{}, values: attributes{":revoked": str(revoked)}}
	var sets, conditions []string
	for i, seat := range seats {
		n := strconv.Itoa(i)
		c.names["#w"+n], c.values[":w"+n] = prefixSeat+seat.Connection, seatOf(seat)
		sets = append(sets, "#w"+n+" = :revoked")
		conditions = append(conditions, "#w"+n+" = :w"+n)
	}
	c.expression = strings.Join(conditions, " AND ")
	return s.update(ctx, watchersKey(log), "SET "+strings.Join(sets, ", "), c)
}

// seatGuest gives a guest a seat while his grant stands.
func (s *Store) seatGuest(ctx context.Context, log string, seat watch.Seat, expires types.AttributeValue) error {
	stands := condition{expression: "attribute_exists(PK)"}
	shared, granted := shareKey(log, seat.Grant.Share), grantKey(log, seat.Grant.UserID, seat.Grant.Share)
	for try := 0; ; try++ {
		err := s.transact(ctx,
			s.transactUpdate(watchersKey(log), takeSeat, taking(seat, expires)),
			s.transactCheck(shared, stands), s.transactCheck(granted, stands),
		)
		if !errors.Is(err, errTaken) {
			return err
		}
		for _, k := range []key{shared, granted} {
			found, err := s.get(ctx, k, &struct{}{})
			if err != nil {
				return err
			}
			if !found {
				return errors.Join(fault.NotYours("session"), s.unseat(ctx, log, seat.Connection))
			}
		}
		if err := afterConflict(ctx, try); err != nil { // another took a seat at the same time
			return err
		}
	}
}
