package feedback

import (
	"context"

	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/tasks"
)

// Store stores feedback. It is safe for concurrent use.
type Store struct {
	records.Base
	content  records.Bodies
	sessions *sessions.Store
	tasks    *tasks.Store
	history  *history.Store
	complete func(ctx context.Context, user, id string, known map[string]bool) (bool, error) // whether an import is complete
}

// New returns a store over the table of base.
func New(base records.Base, content records.Bodies, sessions *sessions.Store, tasks *tasks.Store, history *history.Store, complete func(ctx context.Context, user, id string, known map[string]bool) (bool, error)) *Store {
	return &Store{Base: base, content: content, sessions: sessions, tasks: tasks, history: history, complete: complete}
}
