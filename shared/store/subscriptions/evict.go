package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/shares"
	"github.com/rethread/rethread/shared/store/table"
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
	err := records.Settled(ctx, func() error { return s.tryEvict(ctx, log, whom) })
	if err != nil {
		return fmt.Errorf("evict from log %s: %w", log, err)
	}
	return nil
}

// tryEvict marks seats until none is left; table.ErrConditionFailed where one of them
// left, or has another seat by now.
func (s *Store) tryEvict(ctx context.Context, log string, whom func(watch.Grant) bool) error {
	for {
		_, seats, err := s.Watchers(ctx, log)
		if err != nil {
			return fmt.Errorf("find whom to evict: %w", err)
		}
		seats = slices.DeleteFunc(seats, func(seat watch.Seat) bool { return !seat.Guest() || !whom(seat.Grant) })
		if len(seats) == 0 {
			return nil
		}
		if err := s.markRevoked(ctx, log, seats[:min(len(seats), evictAtOnce)]); err != nil {
			return err
		}
	}
}

// markRevoked marks seats, all or none, if they are as they were read.
func (s *Store) markRevoked(ctx context.Context, log string, seats []watch.Seat) error {
	changes, asRead := make([]table.Change, len(seats)), make([]table.Condition, len(seats))
	for i, seat := range seats {
		changes[i] = table.Set(seatPath(seat.Connection), revoked)
		asRead[i] = table.Equal(seatPath(seat.Connection), seatOf(seat))
	}
	return s.DB.Update(ctx, watchersKey(log), changes, asRead...)
}

// seatGuest gives a guest a seat while his grant stands.
func (s *Store) seatGuest(ctx context.Context, log string, seat watch.Seat, expires int64) error {
	grounds := shares.Checks(log, seat.Grant.UserID, seat.Grant.Share)
	writes := []table.Write{table.Update(watchersKey(log), takeSeat(seat, expires))}
	for _, k := range grounds {
		writes = append(writes, table.Check(k, table.ItemExists()))
	}
	return records.Contended(ctx, func() error {
		err := s.DB.Transact(ctx, writes...)
		if !errors.Is(err, table.ErrConditionFailed) {
			return err
		}
		for _, k := range grounds {
			found, err := s.DB.Get(ctx, k, &struct{}{})
			if err != nil {
				return err
			}
			if !found {
				return errors.Join(fault.NotYours("session"), s.unseat(ctx, log, seat.Connection))
			}
		}
		return err // another took a seat at the same time
	})
}
