package tasks

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/rest"
)

// listMessages answers the bubbles of a page of tasks as one list. The body is
// a bare array (seed 002), so the next cursor is in a header.
func (a *api) listMessages(c *rest.Call) (*rest.Reply, error) {
	page, p, err := a.taskPage(c, "messages")
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	messages := []task.Message{}
	for _, t := range page.Tasks {
		messages = append(messages, t.Messages()...)
	}
	rep, err := rest.JSON(http.StatusOK, messages)
	if err != nil {
		return nil, err
	}
	if next != nil {
		rep.Header.Set("X-Next-Cursor", *next)
	}
	p.Link(rep.Header, next)
	return rep, nil
}
