package usage

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// What is kept for some days is counted by the day of its end: the item of a day
// expires with what it counts, so nothing has to be subtracted.

// keptItem is how many bytes of a user's end on a day.
type keptItem struct {
	SK      string `dynamodbav:"SK"`
	Bytes   int64  `dynamodbav:"b"`
	Expires int64  `dynamodbav:"expires"` // epoch seconds
}

const daySeconds = 24 * 60 * 60

// CountKept adds to the bytes of a user that are kept until a time.
func (s *Store) CountKept(ctx context.Context, user string, n int64, until time.Time) {
	day := until.Unix()/daySeconds + 1
	s.add(ctx, keys.KeptKey(user, day), n, table.Set(table.Path{quotaExpires}, day*daySeconds))
}

// countsKept reports whether users have items of keptItem that count.
func (s *Store) countsKept() bool { return s.Quotas.Bytes > 0 && s.Quotas.RequestDays > 0 }

// readAll reads a user's usage with what is kept for some days, for the price of the
// usage alone while both are less than 4 KB.
func (s *Store) readAll(ctx context.Context, user string, into *QuotaItem) error {
	now := s.Now().Unix()
	return s.DB.EachItem(ctx, records.Partition(keys.QuotaKey(user).PK), func(item table.Item) error {
		if table.Text(item, table.SK) == keys.QuotaKey(user).SK {
			return table.Decode(item, into)
		}
		var kept keptItem
		if err := table.Decode(item, &kept); err != nil {
			return err
		}
		if kept.Expires > now {
			into.Kept += kept.Bytes
		}
		return nil
	})
}
