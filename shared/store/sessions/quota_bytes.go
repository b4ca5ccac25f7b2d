package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Counting bytes must not make an append more expensive. So each entry of a log
// records how many bytes before it are not counted yet, and the writer of the
// entry that reaches countAtOnce counts them all, itself included: two more write
// units after at least sixty-four. A smaller rest of a session's log is never
// counted. Artifacts and tasks are counted when they are written, in whole
// kilobytes.

const (
	// countAtOnce is how many bytes of a log are counted at once.
	countAtOnce = 64 << 10
	// countTries limits the attempts to count: other changes of the session and
	// other sessions of the user compete with it.
	countTries = 10
)

// kilobytes returns n rounded down to whole kilobytes, so that exactly what was
// added can be subtracted again.
func kilobytes(n int64) int64 { return n &^ 1023 }

// limitsBytes implements owner.
func (s *Store) limitsBytes() bool { return s.quotas.Bytes > 0 }

// admitBytes returns fault.Busy if the user may not store more.
func (s *Store) admitBytes(ctx context.Context, user string) error {
	if s.quotas.Bytes == 0 {
		return nil
	}
	q, err := s.quotaItem(ctx, user)
	if err != nil {
		return err
	}
	return s.quotas.AdmitBytes(records.Deref(q.Bytes))
}

// pendingBytes records in a new entry how many bytes before it are not counted,
// and whether they are to be counted with it. An item that will still grow leaves
// the counting to later entries.
func (s *Store) pendingBytes(e *entry, at head, size int64) {
	if !s.owner.limitsBytes() {
		return
	}
	e.PendingBytes = at.pendingBytes
	e.Counts = !e.Streamed && at.pendingBytes+size >= countAtOnce
}

// countEntry counts the bytes that a stored entry is marked to count.
func (s *Store) countEntry(ctx context.Context, l Log, r *record) {
	if r != nil && r.Counts {
		s.owner.countBytes(ctx, l, r.PendingBytes+r.size())
	}
}

// countBytes adds to the bytes of a session and of its user in one transaction;
// the session's deletion subtracts them. If it fails, the data stays stored but
// uncounted.
func (s *Store) countBytes(ctx context.Context, l Log, n int64) {
	if s.quotas.Bytes == 0 || n == 0 {
		return
	}
	tries := 0
	err := records.Settled(ctx, func() error {
		tries++
		err := s.tryCountBytes(ctx, l, n)
		if errors.Is(err, table.ErrConditionFailed) && tries == countTries {
			err = records.Busy("the session or its user changes too often")
		}
		return err
	})
	if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) { // a deleted session stores nothing
		s.log.WarnContext(ctx, "bytes are not counted", "session_id", l.Session, "bytes", n, "error", err)
	}
}

// tryCountBytes makes one attempt; table.ErrConditionFailed if another change
// came first.
func (s *Store) tryCountBytes(ctx context.Context, l Log, n int64) error {
	err := s.db.Transact(ctx,
		table.Update(keys.SessionKey(l.Session), []table.Change{table.Add(table.At(headerBytes), n)}, table.Equal(table.At(headerLog), l.Name)),
		table.Update(keys.QuotaKey(l.User), []table.Change{table.Add(table.At(quotaBytes), n)}))
	if errors.Is(err, table.ErrConditionFailed) {
		if gone := s.checkExists(ctx, l.Name); gone != nil {
			return gone
		}
	}
	return err
}

// countShared adds to the user's bytes outside of sessions, which are subtracted
// only when all of the user's data is erased.
func (s *Store) countShared(ctx context.Context, user string, n int64) {
	if s.quotas.Bytes == 0 || n == 0 {
		return
	}
	once := s.Base().NewLog()
	err := s.db.Update(ctx, keys.QuotaKey(user), []table.Change{
		table.Add(table.At(quotaBytes), n), table.Set(table.At(quotaAddition), once),
	}, table.NotEqual(table.At(quotaAddition), once)) // otherwise it was added and the answer lost
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.log.WarnContext(ctx, "bytes are not counted", "bytes", n, "error", err)
	}
}
