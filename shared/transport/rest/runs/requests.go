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
	p, err := c.PlainPages(session.DefaultPage, "requests", ref.SessionID, ref.RunID)
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
	next, err := p.NextSeq(page.Next)
	if err != nil {
		return nil, err
	}
	return p.ListReply(page.Requests, next)
}
