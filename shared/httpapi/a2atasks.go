package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/a2a/convert"
	"github.com/rethread/rethread/shared/access"
	"github.com/rethread/rethread/shared/fault"
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
	tasks, err := convert.Reader{Sessions: a.Sessions, Tasks: a.Tasks}.SessionTasks(c.Context(), of)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, envelope{Data: tasks, Message: "Tasks listed"})
}

// saveA2ATask creates or replaces a task in A2A form; its contextId is the
// session.
func (a *api) saveA2ATask(c *call) (*reply, error) {
	save, err := task.FromA2A(json.RawMessage(c.body))
	if err != nil {
		return nil, err
	}
	var saved task.Task
	var created bool
	err = a.gate.Do(c.Context(), c.caller, save.SessionID, access.SaveTask, func(p access.Pass) error {
		save.UserID = p.Owner
		var err error
		saved, created, err = a.Tasks.Save(c.Context(), save)
		return err
	})
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return a2aReply(status, saved, "Task saved")
}

// getA2ATask answers a task of the caller's in whichever session it is. What a
// fork took over is the task that has its id.
func (a *api) getA2ATask(c *call) (*reply, error) {
	sessionID, taskID, err := a.findA2ATask(c)
	if taskID != "" && sessionID == taskID || errors.Is(err, fault.Of(fault.NotFound)) {
		if merged, found, err := a.mergedTask(c, taskID); found || err != nil {
			return merged, err
		}
	}
	if err != nil {
		return nil, err
	}
	t, err := a.Tasks.Task(c.Context(), c.user, sessionID, taskID)
	if err != nil {
		return nil, err
	}
	return a2aReply(http.StatusOK, t, "Task found")
}

// mergedTask answers what a fork of the caller's took over; false where the id
// is no such fork's.
func (a *api) mergedTask(c *call, id string) (*reply, bool, error) {
	of, err := a.Sessions.Get(c.Context(), c.user, id)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)), errors.Is(err, fault.Of(fault.Forbidden)):
		return nil, false, nil
	case err != nil || of.Fork == nil:
		return nil, false, err
	}
	tasks, err := convert.Reader{Sessions: a.Sessions, Tasks: a.Tasks}.SessionTasks(c.Context(), of)
	if err != nil {
		return nil, false, err
	}
	rep, err := jsonReply(http.StatusOK, envelope{Data: tasks[0], Message: "Task found"})
	return rep, true, err
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
	form, err := task.ToA2A(t)
	if err != nil {
		return nil, err
	}
	return jsonReply(status, envelope{Data: form, Message: message})
}
