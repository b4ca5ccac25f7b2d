// Package tasks serves tasks over HTTP, the messages derived from them, and feedback.
package tasks

import (
	"encoding/json"
	"net/http"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/rest"
)

// maxBody is above the size limit of a task, for the other members and white space.
const maxBody = task.MaxSize + 64<<10

// api holds the handlers.
type api struct{ *rest.API }

// New handles tasks, the messages derived from them, and feedback.
func New(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	const tasks = rest.Versioned + "/sessions/{session_id}/tasks"
	a.Handle(http.MethodPost, tasks, rest.WithBody(maxBody, a.Once(rest.Repeatable{Session: access.SaveTask}, a.saveTask)))
	a.Handle(http.MethodGet, tasks, a.On(access.ReadTasks, a.listTasks))
	a.Handle(http.MethodGet, tasks+"/{task_id}", a.On(access.ReadTasks, a.getTask))
	a.Handle(http.MethodDelete, tasks+"/{task_id}", a.On(access.DeleteTask, a.deleteTask))
	a.Handle(http.MethodGet, rest.Versioned+"/sessions/{session_id}/messages", a.On(access.ReadTasks, a.listMessages))
	a.Handle(http.MethodPost, rest.Versioned+"/feedback", rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{May: a.feedbackAuthority}, a.giveFeedback)))
	a.Handle(http.MethodGet, rest.Versioned+"/feedback", a.listFeedback)
	a.Handle(http.MethodGet, rest.Bare+"/sessions/{session_id}/tasks", a.On(access.ReadTasks, a.listA2ATasks))
	a.Handle(http.MethodPost, rest.Bare+"/tasks", rest.WithBody(maxBody, a.saveA2ATask))
	a.Handle(http.MethodGet, rest.Bare+"/tasks/{task_id}", a.getA2ATask)
	a.Handle(http.MethodDelete, rest.Bare+"/tasks/{task_id}", a.deleteA2ATask)
	return a.Mux
}

// taskBody is a task as callers see it. Bubbles and metadata are returned byte
// for byte as saved.
type taskBody struct {
	TaskID      string          `json:"task_id"`
	SessionID   string          `json:"session_id,omitempty"` // set in an answer with a single task
	UserMessage json.RawMessage `json:"user_message"`
	Bubbles     json.RawMessage `json:"message_bubbles"`
	Metadata    json.RawMessage `json:"task_metadata"`
	CreatedTime int64           `json:"created_time"`
	UpdatedTime int64           `json:"updated_time"`
}

func toTaskBody(t task.Task) taskBody {
	return taskBody{
		TaskID: t.ID, UserMessage: t.UserMessage, Bubbles: t.Bubbles, Metadata: t.Metadata,
		CreatedTime: t.CreatedTime, UpdatedTime: t.UpdatedTime,
	}
}

type taskList struct {
	Tasks      []taskBody `json:"tasks"`
	NextCursor *string    `json:"next_cursor"`
}

type taskSaved struct {
	TaskID      string `json:"task_id"`
	SessionID   string `json:"session_id"`
	CreatedTime int64  `json:"created_time"`
	UpdatedTime int64  `json:"updated_time"`
}

func (a *api) saveTask(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	save, err := saveOf(c, id)
	if err != nil {
		return nil, err
	}
	saved, created, err := a.Tasks.Save(c.Context(), save)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return rest.JSON(status, taskSaved{
		TaskID: saved.ID, SessionID: id, CreatedTime: saved.CreatedTime, UpdatedTime: saved.UpdatedTime,
	})
}

func (a *api) getTask(c *rest.Call) (*rest.Reply, error) {
	id, taskID, err := taskPath(c)
	if err != nil {
		return nil, err
	}
	t, err := a.Tasks.Task(c.Context(), c.User, id, taskID)
	if err != nil {
		return nil, err
	}
	body := toTaskBody(t)
	body.SessionID = id
	return rest.JSON(http.StatusOK, body)
}

func (a *api) deleteTask(c *rest.Call) (*rest.Reply, error) {
	id, taskID, err := taskPath(c)
	if err != nil {
		return nil, err
	}
	if err := a.Tasks.DeleteTask(c.Context(), c.User, id, taskID); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}

func taskPath(c *rest.Call) (sessionID, taskID string, err error) {
	if sessionID, err = c.SessionID(); err != nil {
		return "", "", err
	}
	taskID, err = c.PathID("task_id")
	return sessionID, taskID, err
}

func (a *api) listTasks(c *rest.Call) (*rest.Reply, error) {
	page, p, err := a.taskPage(c, "tasks")
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	body := taskList{Tasks: []taskBody{}, NextCursor: next}
	for _, t := range page.Tasks {
		body.Tasks = append(body.Tasks, toTaskBody(t))
	}
	rep, err := rest.JSON(http.StatusOK, body)
	if err != nil {
		return nil, err
	}
	p.Link(rep.Header, next)
	return rep, nil
}

// taskPage reads the page of tasks of a list, or of a list derived from it.
func (a *api) taskPage(c *rest.Call, list string) (task.Page, rest.Pages, error) {
	fail := func(err error) (task.Page, rest.Pages, error) { return task.Page{}, rest.Pages{}, err }
	id, err := c.SessionID()
	if err != nil {
		return fail(err)
	}
	q, err := c.Query()
	if err != nil {
		return fail(err)
	}
	p, err := c.Pages(q, 0, list, id)
	if err != nil {
		return fail(err)
	}
	after, err := p.After()
	if err != nil {
		return fail(err)
	}
	page, err := a.Tasks.Tasks(c.Context(), task.Query{
		SessionID: id, UserID: c.User, Limit: p.Limit, After: after,
	})
	return page, p, err
}
