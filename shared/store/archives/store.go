package archives

import (
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/tasks"
	"github.com/rethread/rethread/shared/store/usage"
)

// Store exports and imports sessions. It is safe for concurrent use.
type Store struct {
	records.Base
	content   records.Bodies
	logs      *eventlog.Store
	usage     *usage.Store
	sessions  *sessions.Store
	artifacts *artifacts.Store
	tasks     *tasks.Store
	runs      *runs.Store
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, logs *eventlog.Store, usage *usage.Store, sessions *sessions.Store, artifacts *artifacts.Store, tasks *tasks.Store, runs *runs.Store) *Store {
	return &Store{Base: base, content: content, logs: logs, usage: usage, sessions: sessions, artifacts: artifacts, tasks: tasks, runs: runs}
}
