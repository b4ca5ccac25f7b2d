package usage

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
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
}

// QuotaItem reads a user's usage.
func (s *Store) QuotaItem(ctx context.Context, user string) (*QuotaItem, error) {
	var q QuotaItem
	if _, err := s.DB.Get(ctx, keys.QuotaKey(user), &q); err != nil {
		return nil, fmt.Errorf("read the usage: %w", err)
	}
	return &q, nil
}

// EraseQuotas deletes a user's usage.
func (s *Store) EraseQuotas(ctx context.Context, user string) error {
	keys := []table.Item{keys.QuotaKey(user).Item()}
	slots, err := s.streamSlots(ctx, user)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		keys = append(keys, table.NewKey(slot.PK, slot.SK).Item())
	}
	return s.DB.DeleteItems(ctx, keys)
}
