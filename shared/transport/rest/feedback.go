package rest

import (
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
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
func (a *api) giveFeedback(c *call) (*reply, error) {
	f, err := c.newFeedback()
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
	err = a.gate.Do(c.Context(), c.caller, f.SessionID, access.GiveFeedback, func(p access.Permission) error {
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
	return jsonReply(http.StatusAccepted, feedbackAccepted{Status: "accepted", FeedbackID: f.ID})
}

// feedbackAuthority requires permission for the task, if there is one.
func (a *api) feedbackAuthority(c *call) (string, error) {
	f, err := c.newFeedback()
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
	pass, err := a.gate.Permission(c.Context(), c.caller, f.SessionID, access.GiveFeedback)
	return pass.Log, err
}

func (a *api) warnFeedback(c *call, f task.Feedback, what string, err error) {
	a.Log.WarnContext(c.Context(), "feedback was stored, but its task was not marked",
		"operation", what, "task_id", f.TaskID, "session_id", f.SessionID, "error", err)
}

// newFeedback reads the body of a feedback request.
func (c *call) newFeedback() (task.Feedback, error) {
	body, err := c.object()
	if err != nil {
		return task.Feedback{}, err
	}
	f := task.Feedback{UserID: c.user}
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
	if f.ID, err = c.derivedID("feedback"); err != nil {
		return task.Feedback{}, err
	}
	return f, f.Validate()
}

func (a *api) listFeedback(c *call) (*reply, error) {
	q, p, err := c.feedbackQuery()
	if err != nil {
		return nil, err
	}
	page, err := a.Feedback.ListFeedback(c.Context(), q)
	if err != nil {
		return nil, err
	}
	next, err := p.nextAfter(page.Next)
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
	rep, err := jsonReply(http.StatusOK, body)
	if err != nil {
		return nil, err
	}
	p.link(rep.header, next)
	return rep, nil
}

func (c *call) feedbackQuery() (task.FeedbackQuery, pages, error) {
	params, err := c.query()
	q := task.FeedbackQuery{UserID: c.user}
	if err == nil {
		q.SessionID, err = params.id("session_id")
	}
	if err == nil {
		q.TaskID, err = params.id("task_id")
	}
	if err == nil {
		q.Type, err = params.choice("type", "", task.Up, task.Down)
	}
	if err != nil {
		return task.FeedbackQuery{}, pages{}, err
	}
	p, err := c.pages(params, session.DefaultPage, "feedback", q.SessionID, q.TaskID, q.Type)
	if err != nil {
		return task.FeedbackQuery{}, pages{}, err
	}
	q.Limit = p.limit
	q.After, err = p.after()
	return q, p, err
}
