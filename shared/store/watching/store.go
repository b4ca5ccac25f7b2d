package watching

import (
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/sessions"
)

// Store reads what watchers and receivers of events are told. It is safe for concurrent use.
type Store struct {
	records.Base
	logs     *eventlog.Store
	sessions *sessions.Store
	runs     *runs.Store
}

// New returns a store over the table of base.
func New(base records.Base, logs *eventlog.Store, sessions *sessions.Store, runs *runs.Store) *Store {
	return &Store{Base: base, logs: logs, sessions: sessions, runs: runs}
}
