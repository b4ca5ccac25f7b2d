package rethread

import (
	"context"
	"net/url"
)

// Tasks has the calls about interactions as a user interface showed them.
type Tasks struct{ resource }

// List lists the tasks that a session shows, oldest first.
func (t *Tasks) List(sessionID string, q ListQuery, opts ...Option) List[Task] {
	return pages(listQuery(q.Limit, q.Cursor), func(ctx context.Context, query url.Values) (Page[Task], error) {
		c := get("/sessions/{}/tasks", sessionID)
		c.query = query
		got, err := body[struct {
			Tasks      []Task `json:"tasks"`
			NextCursor string `json:"next_cursor"`
		}](ctx, t.resource, c, opts)
		return Page[Task]{got.Tasks, got.NextCursor}, err
	})
}

// Get returns a task with its session's id.
func (t *Tasks) Get(ctx context.Context, sessionID, id string, opts ...Option) (Task, error) {
	return body[Task](ctx, t.resource, get("/sessions/{}/tasks/{}", sessionID, id), opts)
}

// Save creates or replaces a task.
func (t *Tasks) Save(ctx context.Context, sessionID string, task TaskSave, opts ...Option) (TaskSaved, error) {
	return body[TaskSaved](ctx, t.resource, post(repeatKey, task, "/sessions/{}/tasks", sessionID), opts)
}

// Delete deletes a task.
func (t *Tasks) Delete(ctx context.Context, sessionID, id string, opts ...Option) error {
	return t.done(ctx, remove("/sessions/{}/tasks/{}", sessionID, id), opts)
}

// Messages has the call that lists messages.
type Messages struct{ resource }

// List lists the bubbles of a session's tasks, oldest first. The limit of a page counts
// tasks.
func (m *Messages) List(sessionID string, q ListQuery, opts ...Option) List[Message] {
	return pages(listQuery(q.Limit, q.Cursor), func(ctx context.Context, query url.Values) (Page[Message], error) {
		c := get("/sessions/{}/messages", sessionID)
		c.query = query
		got, header, err := fetch[[]Message](ctx, m.resource, c, opts)
		return Page[Message]{got, header.Get("X-Next-Cursor")}, err
	})
}

// Feedbacks has the calls about users' opinions of tasks.
type Feedbacks struct{ resource }

// FeedbackQuery filters feedback. Empty members select all.
type FeedbackQuery struct {
	SessionID, TaskID string
	Type              string // up or down
	Limit             int    // of a page, up to 1000; 0 means 100
	Cursor            string
}

// List lists feedback, newest first.
func (f *Feedbacks) List(q FeedbackQuery, opts ...Option) List[Feedback] {
	values := listQuery(q.Limit, q.Cursor)
	set(values, "session_id", q.SessionID)
	set(values, "task_id", q.TaskID)
	set(values, "type", q.Type)
	return pages(values, func(ctx context.Context, query url.Values) (Page[Feedback], error) {
		c := get("/feedback")
		c.query = query
		got, err := body[struct {
			Feedback   []Feedback `json:"feedback"`
			NextCursor string     `json:"next_cursor"`
		}](ctx, f.resource, c, opts)
		return Page[Feedback]{got.Feedback, got.NextCursor}, err
	})
}

// Give stores feedback.
func (f *Feedbacks) Give(ctx context.Context, feedback FeedbackRequest, opts ...Option) (FeedbackAccepted, error) {
	return body[FeedbackAccepted](ctx, f.resource, post(repeatKey, feedback, "/feedback"), opts)
}
