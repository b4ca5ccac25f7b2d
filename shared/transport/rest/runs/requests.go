package runs

import (
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// listRequests lists what the agent of a run was sent.
func (a *api) listRequests(c *rest.Call) (*rest.Reply, error) {
	ref, err := runRef(c)
	if err != nil {
		return nil, err
	}
	q, err := c.Query()
	if err != nil {
		return nil, err
	}
	p, err := c.Pages(q, session.DefaultPage, "requests", ref.SessionID, ref.RunID)
	if err != nil {
		return nil, err
	}
	from, err := p.Resumed()
	if err != nil {
		return nil, err
	}
	page, err := a.Runs.SentRequests(c.Context(), run.SentQuery{Ref: ref, Limit: p.Limit, After: from.Seq})
	if err != nil {
		return nil, err
	}
	var next *string
	if page.Next > 0 {
		if next, err = p.NextInLog(&session.Resume{Seq: page.Next}); err != nil {
			return nil, err
		}
	}
	return p.ListReply(page.Requests, next)
}
