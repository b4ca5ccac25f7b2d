package lifecycle

import (
	"github.com/rethread/rethread/shared/store/archives"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/usage"
)

// Store deletes sessions and erases users. It is safe for concurrent use.
type Store struct {
	records.Base
	content    records.Bodies
	logs       *eventlog.Store
	usage      *usage.Store
	sessions   *sessions.Store
	history    *history.Store
	runs       *runs.Store
	feedback   *feedback.Store
	archives   *archives.Store
	dependents []Dependent
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, logs *eventlog.Store, usage *usage.Store, sessions *sessions.Store, history *history.Store, runs *runs.Store, feedback *feedback.Store, archives *archives.Store) *Store {
	return &Store{Base: base, content: content, logs: logs, usage: usage, sessions: sessions, history: history, runs: runs, feedback: feedback, archives: archives}
}
