package httpapi

import (
	"net/http"

	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/task"
)

// envelope is the form of kagent's answers.
type envelope struct {
	Error   bool   `json:"error"`
	Data    any    `json:"data"`
	Message string `json:"message"`
}

// listA2ATasks answers a session's tasks in A2A form, all of them: what a fork
// took over is one task, which no page could cut.
func (a *api) listA2ATasks(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	of, err := a.Sessions.Get(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	q := task.Query{SessionID: id, UserID: c.user, Limit: session.MaxPage}
	var all []task.Task
	for {
		page, err := a.Tasks.Tasks(c.Context(), q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tasks...)
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	tasks, err := task.ToA2A(id, of.Fork != nil, all)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, envelope{Data: tasks, Message: "Tasks listed"})
}
