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

var _ access.Subscriptions = (*Store)(nil)

// A guest's subscription is created in a transaction that checks the guest's share.
// Once the share is gone, no new subscription of it can be created, one read finds
// the existing ones, and a fan-out that reads the subscriptions after they were
// marked sends these guests nothing but the unsubscribed notice.

// EndSubscriptions implements access.Subscriptions; the share must already be
// removed. It marks the subscriptions instead of removing them, because the
// connections still get a notice: the fan-out sends it when the removal of the
// share reaches it.
func (s *Store) EndSubscriptions(ctx context.Context, log, shareID string) error {
	return s.endWhere(ctx, log, func(g watch.Grant) bool { return g.Share == shareID })
}

// EndUserSubscriptions is EndSubscriptions for one of the share's users.
func (s *Store) EndUserSubscriptions(ctx context.Context, log, shareID, userID string) error {
	return s.endWhere(ctx, log, func(g watch.Grant) bool { return g.Share == shareID && g.UserID == userID })
}

// endAtOnce is how many subscriptions one update marks; each one is in its
// condition too.
const endAtOnce = 50

func (s *Store) endWhere(ctx context.Context, log string, whom func(watch.Grant) bool) error {
	err := records.Settled(ctx, func() error { return s.tryEnd(ctx, log, whom) })
	if err != nil {
		return fmt.Errorf("end subscriptions of log %s: %w", log, err)
	}
	return nil
}

// tryEnd marks subscriptions until none is left; it returns
// table.ErrConditionFailed if one of them was removed or replaced.
func (s *Store) tryEnd(ctx context.Context, log string, whom func(watch.Grant) bool) error {
	for {
		_, subs, err := s.Watchers(ctx, log)
		if err != nil {
			return fmt.Errorf("find the subscriptions to end: %w", err)
		}
		subs = slices.DeleteFunc(subs, func(sub watch.Subscription) bool { return !sub.Guest() || !whom(sub.Grant) })
		if len(subs) == 0 {
			return nil
		}
		if err := s.markRevoked(ctx, log, subs[:min(len(subs), endAtOnce)]); err != nil {
			return err
		}
	}
}

// markRevoked marks subscriptions, all or none, if they are unchanged.
func (s *Store) markRevoked(ctx context.Context, log string, subs []watch.Subscription) error {
	changes, asRead := make([]table.Change, len(subs)), make([]table.Condition, len(subs))
	for i, sub := range subs {
		changes[i] = table.Set(subscriptionPath(sub.Connection), revoked)
		asRead[i] = table.Equal(subscriptionPath(sub.Connection), subscriptionOf(sub))
	}
	return s.DB.Update(ctx, watchersKey(log), changes, asRead...)
}

// subscribeGuest creates a guest's subscription while the guest's grant exists.
func (s *Store) subscribeGuest(ctx context.Context, log string, sub watch.Subscription, expires int64) error {
	grounds := shares.Checks(log, sub.Grant.UserID, sub.Grant.Share)
	writes := []table.Write{table.Update(watchersKey(log), subscribe(sub, expires))}
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
				return errors.Join(fault.NotYours("session"), s.unsubscribe(ctx, log, sub.Connection))
			}
		}
		return err // a concurrent subscription succeeded
	})
}
