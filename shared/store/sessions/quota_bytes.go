package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Counting bytes must not cost an append anything. So each entry of a log says
// how many bytes before it nobody has counted yet, and who appends the entry that
// makes them countBytes counts them all, itself included: two write units more for
// what took sixty-four. What a session's log has less than that never counts.
// Artifacts and tasks count when they are written, in whole kilobytes.

const (
	// countAtOnce is how many bytes of a log are counted at once.
	countAtOnce = 64 << 10
	// countTries bounds how often counting is tried: it meets other changes of
	// the session and other sessions of the user.
	countTries = 10
)

// kilobytes is n rounded down, so that what was counted can be taken off again.
func kilobytes(n int64) int64 { return n &^ 1023 }

// admitBytes says whether the user may store more: fault.Busy where not.
func (s *Store) admitBytes(ctx context.Context, user string) error {
	if s.quotas.Bytes == 0 {
		return nil
	}
	q, err := s.quotaItem(ctx, user)
	if err != nil {
		return err
	}
	return s.quotas.AdmitBytes(derefOr(q.Bytes))
}

// pendingBytes notes in an entry that is about to be put what is uncounted before it,
// and whether putting it makes that enough to be counted. An item that is yet to
// grow leaves the counting to those after it.
func (s *Store) pendingBytes(e *entry, at head, size int64) {
	if s.quotas.Bytes == 0 {
		return
	}
	e.PendingBytes = at.pendingBytes
	e.Counts = !e.Streamed && at.pendingBytes+size >= countAtOnce
}

// countEntry counts what an entry that is in the log has promised to.
func (s *Store) countEntry(ctx context.Context, h *header, r *record) {
	if r != nil && r.Counts {
		s.countBytes(ctx, h, r.PendingBytes+r.size())
	}
}

// countBytes adds to what a session takes, and to what its user does, as one:
// its deletion takes off what the session took. What is stored stays stored if
// this fails, uncounted.
func (s *Store) countBytes(ctx context.Context, h *header, n int64) {
	if s.quotas.Bytes == 0 || n == 0 {
		return
	}
	tries := 0
	err := records.Settled(ctx, func() error {
		tries++
		err := s.tryCountBytes(ctx, h, n)
		if errors.Is(err, table.ErrConditionFailed) && tries == countTries {
			err = records.Busy("the session or its user changes too often")
		}
		return err
	})
	if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) { // a deleted session takes nothing
		s.log.WarnContext(ctx, "bytes are not counted", "session_id", h.id(), "bytes", n, "error", err)
	}
}

// tryCountBytes tries once; table.ErrConditionFailed where something else was first.
func (s *Store) tryCountBytes(ctx context.Context, h *header, n int64) error {
	err := s.db.Transact(ctx,
		table.Update(sessionKey(h.id()), []table.Change{table.Add(table.At(headerBytes), n)}, h.sameLog()),
		table.Update(quotaKey(h.User), []table.Change{table.Add(table.At(quotaBytes), n)}))
	if errors.Is(err, table.ErrConditionFailed) {
		if gone := s.checkExists(ctx, h); gone != nil {
			return gone
		}
	}
	return err
}

// countShared adds to what a user takes outside of sessions; it stays until all
// of the user's data is erased.
func (s *Store) countShared(ctx context.Context, user string, n int64) {
	if s.quotas.Bytes == 0 || n == 0 {
		return
	}
	once := s.newLog()
	err := s.db.Update(ctx, quotaKey(user), []table.Change{
		table.Add(table.At(quotaBytes), n), table.Set(table.At(quotaAddition), once),
	}, table.NotEqual(table.At(quotaAddition), once)) // else it was added, and the answer lost
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.log.WarnContext(ctx, "bytes are not counted", "bytes", n, "error", err)
	}
}
