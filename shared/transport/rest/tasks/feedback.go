package tasks

import (
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/rest"
)

type feedbackAccepted struct {
	Status     string `json:"status"`
	FeedbackID string `json:"feedback_id"`
}

type feedbackBody struct {
	TaskID      string  `json:"task_id"`
	SessionID   *string `json:"session_id"` // null if no task was found
	Type        string  `json:"type"`
	Text        string  `json:"text"`
	CreatedTime int64   `json:"created_time"`
}

type feedbackList struct {
	Feedback   []feedbackBody `json:"feedback"`
	NextCursor *string        `json:"next_cursor"`
}

// giveFeedback stores the feedback first. The request succeeds even if its task
// is not found or cannot be marked (seed 002, 7.3.1).
func (a *api) giveFeedback(c *rest.Call) (*rest.Reply, error) {
	f, err := newFeedback(c)
	if err != nil {
		return nil, err
	}
	f.CreatedTime = a.Now().UnixMilli()
	if f.SessionID == "" {
		_, at, err := a.findTask(c, f.TaskID, access.GiveFeedback)
		if errors.Is(err, fault.Of(fault.Forbidden)) {
			return nil, err
		}
		if err != nil {
			a.warnFeedback(c, f, "find the task of a feedback", err)
		}
		f.SessionID = at.SessionID
	}
	err = a.Gate.Do(c.Context(), c.Caller, f.SessionID, access.GiveFeedback, func(p access.Permission) error {
		f.OwnerID = p.Owner
		return a.Feedback.AddFeedback(c.Context(), f)
	})
	if err != nil {
		return nil, err
	}
	if f.SessionID != "" {
		if err := a.Feedback.MarkTask(c.Context(), f); err != nil {
			a.warnFeedback(c, f, "mark the task of a feedback", err)
		}
	}
	return rest.JSON(http.StatusAccepted, feedbackAccepted{Status: "accepted", FeedbackID: f.ID})
}

// feedbackAuthority requires permission for the task, if there is one.
func (a *api) feedbackAuthority(c *rest.Call) (string, error) {
	f, err := newFeedback(c)
	if err != nil {
		return "", err
	}
	if f.SessionID == "" {
		_, at, err := a.findTask(c, f.TaskID, access.GiveFeedback)
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		f.SessionID = at.SessionID
	}
	pass, err := a.Gate.Permission(c.Context(), c.Caller, f.SessionID, access.GiveFeedback)
	return pass.Log, err
}

func (a *api) warnFeedback(c *rest.Call, f task.Feedback, what string, err error) {
	a.Log.WarnContext(c.Context(), "feedback was stored, but its task was not marked",
		"operation", what, "task_id", f.TaskID, "session_id", f.SessionID, "error", err)
}

// newFeedback reads the body of a feedback request.
func newFeedback(c *rest.Call) (task.Feedback, error) {
	body, err := c.Object()
	if err != nil {
		return task.Feedback{}, err
	}
	f := task.Feedback{UserID: c.User}
	if f.TaskID, err = body.RequiredText("taskId"); err != nil {
		return task.Feedback{}, err
	}
	if f.Type, err = body.RequiredText("feedbackType"); err != nil {
		return task.Feedback{}, err
	}
	if f.Text, err = body.Text("feedbackText"); err != nil {
		return task.Feedback{}, err
	}
	if f.SessionID, err = body.Text("sessionId"); err != nil {
		return task.Feedback{}, err
	}
	if body.Has("sessionId") {
		if err := ids.Check("/sessionId", f.SessionID); err != nil {
			return task.Feedback{}, err
		}
	}
	if f.ID, err = c.DerivedID("feedback"); err != nil {
		return task.Feedback{}, err
	}
	return f, f.Validate()
}

func (a *api) listFeedback(c *rest.Call) (*rest.Reply, error) {
	q, p, err := feedbackQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.Feedback.ListFeedback(c.Context(), q)
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	body := feedbackList{Feedback: []feedbackBody{}, NextCursor: next}
	for _, f := range page.Feedback {
		row := feedbackBody{TaskID: f.TaskID, Type: f.Type, Text: f.Text, CreatedTime: f.CreatedTime}
		if f.SessionID != "" {
			row.SessionID = &f.SessionID
		}
		body.Feedback = append(body.Feedback, row)
	}
	rep, err := rest.JSON(http.StatusOK, body)
	if err != nil {
		return nil, err
	}
	p.Link(rep.Header, next)
	return rep, nil
}

func feedbackQuery(c *rest.Call) (task.FeedbackQuery, rest.Pages, error) {
	params, err := c.Query()
	q := task.FeedbackQuery{UserID: c.User}
	if err == nil {
		q.SessionID, err = params.ID("session_id")
	}
	if err == nil {
		q.TaskID, err = params.ID("task_id")
	}
	if err == nil {
		q.Type, err = params.Choice("type", "", task.Up, task.Down)
	}
	if err != nil {
		return task.FeedbackQuery{}, rest.Pages{}, err
	}
	p, err := c.Pages(params, session.DefaultPage, "feedback", q.SessionID, q.TaskID, q.Type)
	if err != nil {
		return task.FeedbackQuery{}, rest.Pages{}, err
	}
	q.Limit = p.Limit
	q.After, err = p.After()
	return q, p, err
}
