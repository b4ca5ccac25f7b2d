package sessions

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/compaction"
	"github.com/rethread/rethread/shared/store/eventlog"
)

// compactorOf returns the compactor of a page of what the session shows; nil if nothing
// can be compacted.
func (s *Store) compactorOf(log string, q session.EventQuery, ranges session.Timeline) *eventlog.Compactor {
	if q.View != session.Effective || q.Descending {
		return nil
	}
	return compaction.New[*eventlog.Record](s.logs.Compaction, log, ranges)
}
