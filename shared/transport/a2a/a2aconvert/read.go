package a2aconvert

import (
	"context"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// Reader reads sessions as the A2A protocol shows them.
type Reader struct {
	Sessions session.Store
	Tasks    task.Store
}

// SessionTasks reads all tasks of a session: see the function SessionTasks.
// Errors are those of the stores: fault.NotFound, fault.Forbidden, and
// fault.Conflict if the session is rewound during the read.
func (r Reader) SessionTasks(ctx context.Context, of session.Session) ([]task.A2A, error) {
	saved, err := r.savedTasks(ctx, of)
	if err != nil {
		return nil, err
	}
	events, err := session.ReadEffective(ctx, r.Sessions, of.UserID, of.ID, 0)
	if err != nil {
		return nil, err
	}
	return SessionTasks(of, saved, events)
}

func (r Reader) savedTasks(ctx context.Context, of session.Session) ([]task.Task, error) {
	var all []task.Task
	q := task.Query{SessionID: of.ID, UserID: of.UserID, Limit: session.MaxPage}
	for {
		page, err := r.Tasks.Tasks(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tasks...)
		if q.After = page.Next; q.After == "" {
			return all, nil
		}
	}
}
