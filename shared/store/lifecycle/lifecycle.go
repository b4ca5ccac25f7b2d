package lifecycle

import (
	"context"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// deleteWrites returns the writes that belong to a session's deletion.
func (s *Store) deleteWrites(ctx context.Context, h *sessions.Header) ([]table.Write, error) {
	var writes []table.Write
	if h.Retention > 0 {
		writes = append(writes, table.Delete(keys.TimerKey(h.Log)))
	}
	for _, d := range s.dependents {
		writes = append(writes, d.Deleting(Deletion{Session: h.Ref(), Made: max(h.Created, h.Imported), KeyedBy: h.KeyedBy})...)
	}
	count, counts, err := s.sessions.CountDeleted(ctx, h)
	if counts {
		writes = append(writes, count)
	}
	return writes, err
}
