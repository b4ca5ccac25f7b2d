package rest

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/task"
)

// listMessages answers the bubbles of a page of tasks as one list. The body is
// a bare array (seed 002), so the next cursor is in a header.
func (a *api) listMessages(c *call) (*reply, error) {
	page, p, err := a.taskPage(c, "messages")
	if err != nil {
		return nil, err
	}
	next, err := p.nextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	messages := []task.Message{}
	for _, t := range page.Tasks {
		messages = append(messages, t.Messages()...)
	}
	rep, err := jsonReply(http.StatusOK, messages)
	if err != nil {
		return nil, err
	}
	if next != nil {
		rep.header.Set("X-Next-Cursor", *next)
	}
	p.link(rep.header, next)
	return rep, nil
}
