package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/store/table"
)

// createWrites returns the writes that belong to a new session's header, and
// completes the header: the retention timer, and the count of the user's sessions
// if it is limited. Without either a session costs no more.
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

// deleteWrites returns the writes that belong to a session's deletion.
func (s *Store) deleteWrites(ctx context.Context, h *header) ([]table.Write, error) {
	var writes []table.Write
	if h.Retention > 0 {
		writes = append(writes, table.Delete(keys.TimerKey(h.Log)))
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
