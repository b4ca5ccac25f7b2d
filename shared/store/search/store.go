package search

import (
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
)

// Store searches sessions. It is safe for concurrent use.
type Store struct {
	records.Base
	content  records.Bodies
	logs     *eventlog.Store
	sessions *sessions.Store
	rules    Rules
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, logs *eventlog.Store, sessions *sessions.Store, rules Rules) *Store {
	return &Store{Base: base, content: content, logs: logs, sessions: sessions, rules: rules}
}
