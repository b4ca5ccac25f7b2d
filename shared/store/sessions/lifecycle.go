package sessions

import (
	"github.com/rethread/rethread/shared/store/table"
)

// CreateWrites returns the writes that belong to a new session's header, and
// completes the header: the retention timer, and the count of the user's sessions
// if it is limited. Without either a session costs no more.
func (s *Store) CreateWrites(h *Header) []table.Write {
	var writes []table.Write
	if h.Retention > 0 {
		writes = append(writes, h.setTimer(max(h.Created, h.LastActivity)))
	}
	if count, counts := s.countCreated(h); counts {
		writes = append(writes, count)
	}
	return writes
}
