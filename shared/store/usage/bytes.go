package usage

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

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
