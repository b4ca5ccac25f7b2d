package usage

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// The attributes of a user's usage.
const (
	QuotaRuns     = "r"
	QuotaSessions = "n"
	QuotaMoved    = "nt"
	QuotaCounted  = "nc"
	QuotaBytes    = "b"
	quotaAddition = "bo" // id of the last addition to the bytes outside of sessions
	quotaExpires  = "expires"
)

// QuotaItem is a user's usage of the limited quantities.
type QuotaItem struct {
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
	// Kept is the bytes that are kept for some days.
	Kept int64 `dynamodbav:"-"`
}

// Stored returns the user's bytes.
func (q *QuotaItem) Stored() int64 { return records.Deref(q.Bytes) + q.Kept }

// QuotaItem reads a user's usage.
func (s *Store) QuotaItem(ctx context.Context, user string) (*QuotaItem, error) {
	var q QuotaItem
	var err error
	if s.countsKept() {
		err = s.readAll(ctx, user, &q)
	} else {
		_, err = s.DB.Get(ctx, keys.QuotaKey(user), &q)
	}
	if err != nil {
		return nil, fmt.Errorf("read the usage: %w", err)
	}
	return &q, nil
}

// EraseQuotas deletes a user's usage.
func (s *Store) EraseQuotas(ctx context.Context, user string) error {
	slots, err := s.streamSlots(ctx, user)
	if err != nil {
		return err
	}
	var places []table.Item
	for _, slot := range slots {
		places = append(places, table.NewKey(slot.PK, slot.SK).Item())
	}
	if err := s.DB.DeleteItems(ctx, places); err != nil {
		return err
	}
	return s.DB.DeleteFound(ctx, records.KeysOnly(records.Partition(keys.QuotaKey(user).PK)))
}
