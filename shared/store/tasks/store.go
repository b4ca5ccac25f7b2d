package tasks

import (
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
)

// Store stores tasks. It is safe for concurrent use.
type Store struct {
	*links
}

// links stores which sessions the tasks of a user are in, for callers that know only the
// task's id.
type links struct {
	*reader
}

// reader reads tasks, those of a session's own and those that a fork has from its source.
// It writes nothing.
type reader struct {
	records.Base
	content  records.Bodies
	logs     *eventlog.Store
	sessions *sessions.Store
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, logs *eventlog.Store, sessions *sessions.Store) *Store {
	return &Store{&links{&reader{Base: base, content: content, logs: logs, sessions: sessions}}}
}
