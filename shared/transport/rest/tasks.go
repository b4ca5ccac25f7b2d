package rest

import (
	"encoding/json"
	"net/http"

	"github.com/rethread/rethread/shared/domain/task"
)

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

func (a *api) saveTask(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	save, err := c.taskSave(id)
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
	return jsonReply(status, taskSaved{
		TaskID: saved.ID, SessionID: id, CreatedTime: saved.CreatedTime, UpdatedTime: saved.UpdatedTime,
	})
}

func (a *api) getTask(c *call) (*reply, error) {
	id, taskID, err := c.taskPath()
	if err != nil {
		return nil, err
	}
	t, err := a.Tasks.Task(c.Context(), c.user, id, taskID)
	if err != nil {
		return nil, err
	}
	body := toTaskBody(t)
	body.SessionID = id
	return jsonReply(http.StatusOK, body)
}

func (a *api) deleteTask(c *call) (*reply, error) {
	id, taskID, err := c.taskPath()
	if err != nil {
		return nil, err
	}
	if err := a.Tasks.DeleteTask(c.Context(), c.user, id, taskID); err != nil {
		return nil, err
	}
	return noContent(), nil
}

func (c *call) taskPath() (sessionID, taskID string, err error) {
	if sessionID, err = c.sessionID(); err != nil {
		return "", "", err
	}
	taskID, err = c.pathID("task_id")
	return sessionID, taskID, err
}

func (a *api) listTasks(c *call) (*reply, error) {
	page, p, err := a.taskPage(c, "tasks")
	if err != nil {
		return nil, err
	}
	next, err := p.nextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	body := taskList{Tasks: []taskBody{}, NextCursor: next}
	for _, t := range page.Tasks {
		body.Tasks = append(body.Tasks, toTaskBody(t))
	}
	rep, err := jsonReply(http.StatusOK, body)
	if err != nil {
		return nil, err
	}
	p.link(rep.header, next)
	return rep, nil
}

// taskPage reads the page of tasks of a list, or of a list derived from it.
func (a *api) taskPage(c *call, list string) (task.Page, pages, error) {
	fail := func(err error) (task.Page, pages, error) { return task.Page{}, pages{}, err }
	id, err := c.sessionID()
	if err != nil {
		return fail(err)
	}
	q, err := c.query()
	if err != nil {
		return fail(err)
	}
	p, err := c.pages(q, 0, list, id)
	if err != nil {
		return fail(err)
	}
	after, err := p.after()
	if err != nil {
		return fail(err)
	}
	page, err := a.Tasks.Tasks(c.Context(), task.Query{
		SessionID: id, UserID: c.user, Limit: p.limit, After: after,
	})
	return page, p, err
}
