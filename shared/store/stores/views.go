package stores

import (
	"context"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/forks"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/watching"
)

// Sessions is session.Store. A session is read by the room of runs, which first ends a
// run whose worker died, found by the room of search and deleted by that of lifecycle.
type Sessions struct {
	*sessions.Store
	runs *runs.Store
	find *search.Store
	ends *lifecycle.Store
}

// Get implements session.Store.
func (s Sessions) Get(ctx context.Context, userID, id string) (session.Session, error) {
	return s.runs.Get(ctx, userID, id)
}

// Search implements session.Store.
func (s Sessions) Search(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
	return s.find.Search(ctx, q)
}

// Delete implements session.Store.
func (s Sessions) Delete(ctx context.Context, userID, id string) error {
	return s.ends.Delete(ctx, userID, id)
}

// History is session.Rewinder. A rewind may end a run, so the room of runs does it.
type History struct {
	runs  *runs.Store
	forks *forks.Store
}

// Rewind implements session.Rewinder.
func (h History) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	return h.runs.Rewind(ctx, r)
}

// Fork implements session.Rewinder.
func (h History) Fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	return h.forks.Fork(ctx, f)
}

// Forks implements session.Rewinder.
func (h History) Forks(ctx context.Context, q session.TreeQuery) (session.TreePage, error) {
	return h.forks.Forks(ctx, q)
}

// Runs is run.Store. A thread is what watchers are told, so the room of watching reads it.
type Runs struct {
	*runs.Store
	updates *watching.Store
}

// Thread implements run.Store.
func (r Runs) Thread(ctx context.Context, userID, sessionID string, q run.ThreadQuery) (run.Thread, error) {
	return r.updates.Thread(ctx, userID, sessionID, q)
}
