package httpapi

import (
	"encoding/json"
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
// took over is one task, which no page could cut. Tasks that nobody saved, since
// they came over A2A, are made of their events.
func (a *api) listA2ATasks(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	of, err := a.Sessions.Get(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	all, err := a.savedTasks(c, id)
	if err != nil {
		return nil, err
	}
	tasks, err := task.ToA2A(id, of.Fork != nil, all)
	if err != nil {
		return nil, err
	}
	unsaved, err := a.unsavedTasks(c, of, all)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, envelope{Data: append(tasks, unsaved...), Message: "Tasks listed"})
}

func (a *api) savedTasks(c *call, sessionID string) ([]task.Task, error) {
	q := task.Query{SessionID: sessionID, UserID: c.user, Limit: session.MaxPage}
	var all []task.Task
	for {
		page, err := a.Tasks.Tasks(c.Context(), q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tasks...)
		if q.After = page.Next; q.After == "" {
			return all, nil
		}
	}
}

// saveA2ATask creates or replaces a task in A2A form; its contextId is the
// session.
func (a *api) saveA2ATask(c *call) (*reply, error) {
	save, err := task.FromA2A(json.RawMessage(c.body))
	if err != nil {
		return nil, err
	}
	save.UserID = c.user
	saved, created, err := a.Tasks.Save(c.Context(), save)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return a2aReply(status, saved, "Task saved")
}

// getA2ATask answers a task of the caller's in whichever session it is.
func (a *api) getA2ATask(c *call) (*reply, error) {
	sessionID, taskID, err := a.findA2ATask(c)
	if err != nil {
		return nil, err
	}
	t, err := a.Tasks.Task(c.Context(), c.user, sessionID, taskID)
	if err != nil {
		return nil, err
	}
	return a2aReply(http.StatusOK, t, "Task found")
}

func (a *api) deleteA2ATask(c *call) (*reply, error) {
	sessionID, taskID, err := a.findA2ATask(c)
	if err != nil {
		return nil, err
	}
	if err := a.Tasks.DeleteTask(c.Context(), c.user, sessionID, taskID); err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, envelope{Message: "Task deleted"})
}

func (a *api) findA2ATask(c *call) (sessionID, taskID string, err error) {
	if taskID, err = c.pathID("task_id"); err != nil {
		return "", "", err
	}
	sessionID, err = a.Feedback.FindTask(c.Context(), c.user, taskID)
	return sessionID, taskID, err
}

func a2aReply(status int, t task.Task, message string) (*reply, error) {
	form, err := task.ToA2A(t.SessionID, false, []task.Task{t})
	if err != nil {
		return nil, err
	}
	if len(form) == 0 { // taken over by a fork, which shows it as a part of another
		form = []task.A2A{{Kind: "task", ID: t.ID, ContextID: t.SessionID}}
	}
	return jsonReply(status, envelope{Data: form[0], Message: message})
}
