package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table"
)

var _ quota.Store = (*Store)(nil)

// The attributes of a user's usage.
const (
	quotaRuns     = "r"
	quotaSessions = "n"
	quotaMoved    = "nt"
	quotaCounted  = "nc"
	quotaBytes    = "b"
	quotaAddition = "bo" // id of the last addition to the bytes outside of sessions
)

// quotaItem is a user's usage of the limited quantities.
type quotaItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	// Runs maps each active run, by log and id, to when its slot was taken.
	Runs map[string]int64 `dynamodbav:"r,omitempty"`
	// Sessions is nil before the user's sessions were counted; Moved is when the
	// last one was created, Counted when they were last counted.
	Sessions *int64 `dynamodbav:"n,omitempty"`
	Moved    int64  `dynamodbav:"nt,omitempty"`
	Counted  int64  `dynamodbav:"nc,omitempty"`
	Bytes    *int64 `dynamodbav:"b,omitempty"` // of sessions and shared artifacts
}

func (s *Store) quotaItem(ctx context.Context, user string) (*quotaItem, error) {
	var q quotaItem
	if _, err := s.db.Get(ctx, keys.QuotaKey(user), &q); err != nil {
		return nil, fmt.Errorf("read the usage: %w", err)
	}
	return &q, nil
}

// Usage implements quota.Store.
func (s *Store) Usage(ctx context.Context, userID string) (quota.Usage, error) {
	q, err := s.quotaItem(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	sessions, runs, err := s.countSessions(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	if s.quotas.Sessions > 0 && q.Sessions != nil {
		sessions = *q.Sessions
	}
	if s.quotas.Runs > 0 {
		live, _, err := s.liveRuns(ctx, q.Runs)
		if err != nil {
			return quota.Usage{}, err
		}
		runs = int64(len(live))
	}
	streams, err := s.openStreams(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	return quota.Usage{
		Sessions: quota.NewUse(sessions, s.quotas.Sessions),
		Runs:     quota.NewUse(runs, s.quotas.Runs),
		Bytes:    quota.NewUse(records.Deref(q.Bytes), s.quotas.Bytes),
		Streams:  quota.NewUse(streams, s.quotas.Streams),
	}, nil
}

// countSessions counts a user's sessions, and those with an active run, in the
// index, which may lag by a second.
func (s *Store) countSessions(ctx context.Context, user string) (sessions, running int64, err error) {
	err = s.db.Pages(ctx, table.Query{
		Index: store.ActivityIndex, Partition: keys.ActivityPK(user),
		Reading: table.Reading{Members: []string{headerStatus}},
	}, func(page []table.Item) (bool, error) {
		sessions += int64(len(page))
		for _, item := range page {
			if table.Text(item, headerStatus) == string(session.InProgress) {
				running++
			}
		}
		return true, nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the sessions: %w", err)
	}
	return sessions, running, nil
}

// recountSessions replaces the count of the user's sessions;
// table.ErrConditionFailed if a session was created since it was read.
func (s *Store) recountSessions(ctx context.Context, user string, was *quotaItem) (int64, error) {
	n, _, err := s.countSessions(ctx, user)
	if err != nil {
		return 0, err
	}
	same := table.NotExists(table.At(quotaSessions))
	if was.Sessions != nil {
		same = table.Equal(table.At(quotaSessions), *was.Sessions)
	}
	return n, s.db.Update(ctx, keys.QuotaKey(user), []table.Change{
		table.Set(table.At(quotaSessions), n), table.Set(table.At(quotaCounted), s.millis()),
	}, same, records.Unchanged(quotaMoved, was.Moved))
}

// eraseQuotas deletes a user's usage.
func (s *Store) eraseQuotas(ctx context.Context, user string) error {
	keys := []table.Item{keys.QuotaKey(user).Item()}
	slots, err := s.streamSlots(ctx, user)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		keys = append(keys, table.NewKey(slot.PK, slot.SK).Item())
	}
	return s.db.DeleteItems(ctx, keys)
}
