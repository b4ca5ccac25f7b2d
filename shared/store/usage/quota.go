package usage

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Store stores what users have and may have. It is safe for concurrent use.
type Store struct {
	records.Base
	Quotas quota.Limits
}

// New returns a store over the table of base.
func New(base records.Base, limits quota.Limits) *Store {
	return &Store{Base: base, Quotas: limits}
}

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

// Counting bytes must not make an append more expensive. So each entry of a log
// records how many bytes before it are not counted yet, and the writer of the
// entry that reaches countAtOnce counts them all, itself included: two more write
// units after at least sixty-four. A smaller rest of a session's log is never
// counted. Artifacts and tasks are counted when they are written, in whole
// kilobytes.

// Kilobytes returns n rounded down to whole kilobytes, so that exactly what was
// added can be subtracted again.
func Kilobytes(n int64) int64 { return n &^ 1023 }

// CountShared adds to the user's bytes outside of sessions, which are subtracted
// only when all of the user's data is erased.
func (s *Store) CountShared(ctx context.Context, user string, n int64) {
	s.add(ctx, keys.QuotaKey(user), n)
}

// add adds to the bytes of an item.
func (s *Store) add(ctx context.Context, k table.Key, n int64, more ...table.Change) {
	if s.Quotas.Bytes == 0 || n == 0 {
		return
	}
	once := s.NewLog()
	err := s.DB.Update(ctx, k, append(more,
		table.Add(table.Path{QuotaBytes}, n), table.Set(table.Path{quotaAddition}, once),
	), table.NotEqual(table.Path{quotaAddition}, once)) // otherwise it was added and the answer lost
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.Log.WarnContext(ctx, "bytes are not counted", "bytes", n, "error", err)
	}
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
