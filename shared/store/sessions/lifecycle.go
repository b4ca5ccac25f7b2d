package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/table"
)

// createWrites are the writes that go along with a new session's header, which it
// completes: the timer of one that is not kept for ever, the count of those that
// a user may have only so many of. Without either a session costs nothing more.
func (s *Store) createWrites(h *header) []table.Write {
	var writes []table.Write
	if h.Retention > 0 {
		writes = append(writes, h.setTimer(max(h.Created, h.LastActivity)))
	}
	if count, counts := s.countCreated(h); counts {
		writes = append(writes, count)
	}
	return writes
}

// deleteWrites are the writes that go along with a session's deletion.
func (s *Store) deleteWrites(ctx context.Context, h *header) ([]table.Write, error) {
	var writes []table.Write
	if h.Retention > 0 {
		writes = append(writes, table.Delete(timerKey(h.Log)))
	}
	for _, d := range s.dependents {
		writes = append(writes, d.Deleting(Deletion{Session: h.ref(), Made: max(h.Created, h.Imported), KeyedBy: h.KeyedBy})...)
	}
	count, counts, err := s.countDeleted(ctx, h)
	if counts {
		writes = append(writes, count)
	}
	return writes, err
}
