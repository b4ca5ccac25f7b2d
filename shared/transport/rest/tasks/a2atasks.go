package tasks

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/rest"
)

// envelope is the format of kagent's answers.
type envelope struct {
	Error   bool   `json:"error"`
	Data    any    `json:"data"`
	Message string `json:"message"`
}

// listA2ATasks answers all of a session's tasks in A2A form. It is not paged,
// because the copies in a fork are one task that no page could split.
func (a *api) listA2ATasks(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	of, err := a.Sessions.Get(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	tasks, err := a.A2ATasks(c.Context(), of)
	if err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, envelope{Data: tasks, Message: "Tasks listed"})
}

// saveA2ATask creates or replaces a task in A2A form; its contextId is the
// session.
func (a *api) saveA2ATask(c *rest.Call) (*rest.Reply, error) {
	save, err := task.FromA2A(json.RawMessage(c.JSON))
	if err != nil {
		return nil, err
	}
	var saved task.Task
	var created bool
	err = a.Gate.Do(c.Context(), c.Caller, save.SessionID, access.SaveTask, func(p access.Permission) error {
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

// getA2ATask answers a task of any session that the caller owns or that is
// shared with the caller. A fork's copied tasks are the one with the fork's id.
func (a *api) getA2ATask(c *rest.Call) (*rest.Reply, error) {
	taskID, err := c.PathID("task_id")
	if err != nil {
		return nil, err
	}
	given, at, err := a.findTask(c, taskID, access.ReadTasks)
	if at.SessionID == taskID || errors.Is(err, fault.Of(fault.NotFound)) {
		if merged, found, err := a.mergedTask(c, taskID); found || err != nil {
			return merged, err
		}
	}
	if err != nil {
		return nil, err
	}
	t, err := a.Tasks.Task(c.Context(), at.Owner, at.SessionID, taskID)
	if err == nil {
		err = a.Gate.Still(c.Context(), c.Caller, at.SessionID, access.ReadTasks, given)
	}
	if err != nil {
		return nil, err
	}
	return a2aReply(http.StatusOK, t, "Task found")
}

// mergedTask answers the task that a fork copied; false unless id is a fork
// that the caller may read.
func (a *api) mergedTask(c *rest.Call, id string) (*rest.Reply, bool, error) {
	var of session.Session
	err := a.Gate.Do(c.Context(), c.Caller, id, access.ReadTasks, func(p access.Permission) (err error) {
		of, err = a.Sessions.Get(c.Context(), p.Owner, id)
		return err
	})
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)), errors.Is(err, fault.Of(fault.Forbidden)):
		return nil, false, nil
	case err != nil || of.Fork == nil:
		return nil, false, err
	}
	tasks, err := a.A2ATasks(c.Context(), of)
	if err != nil {
		return nil, false, err
	}
	rep, err := rest.JSON(http.StatusOK, envelope{Data: tasks[0], Message: "Task found"})
	return rep, true, err
}

func (a *api) deleteA2ATask(c *rest.Call) (*rest.Reply, error) {
	taskID, err := c.PathID("task_id")
	if err != nil {
		return nil, err
	}
	_, at, err := a.findTask(c, taskID, access.DeleteTask)
	if err != nil {
		return nil, err
	}
	if err := a.Tasks.DeleteTask(c.Context(), at.Owner, at.SessionID, taskID); err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, envelope{Message: "Task deleted"})
}

// findTask finds a task by its id alone if the caller has the permission.
func (a *api) findTask(c *rest.Call, taskID string, action access.Action) (access.Permission, access.Location, error) {
	return a.Gate.FindTask(c.Context(), c.Caller, action, func(user string) (access.Location, error) {
		id, err := a.Feedback.FindTask(c.Context(), user, taskID)
		return access.Location{Owner: user, SessionID: id}, err
	})
}

func a2aReply(status int, t task.Task, message string) (*rest.Reply, error) {
	form, err := task.ToA2A(t)
	if err != nil {
		return nil, err
	}
	return rest.JSON(status, envelope{Data: form, Message: message})
}
