package forks

import (
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/tasks"
)

// Store forks sessions. It is safe for concurrent use.
type Store struct {
	records.Base
	content   records.Bodies
	logs      *eventlog.Store
	sessions  *sessions.Store
	artifacts *artifacts.Store
	tasks     *tasks.Store
	lifecycle *lifecycle.Store
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, logs *eventlog.Store, sessions *sessions.Store, artifacts *artifacts.Store, tasks *tasks.Store, lifecycle *lifecycle.Store) *Store {
	return &Store{Base: base, content: content, logs: logs, sessions: sessions, artifacts: artifacts, tasks: tasks, lifecycle: lifecycle}
}
