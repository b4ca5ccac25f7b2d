package runs

import (
	"net/http"
	"net/url"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/rest"
)

// threadBody is a session's current state (seed 001): a client replaces its
// whole state with it and watches from there on.
type threadBody struct {
	Session session.Session `json:"session"`
	Status  session.Status  `json:"status"`
	Items   []session.Event `json:"items"`
	Cursor  watch.Cursor    `json:"cursor"`
	Run     *run.Run        `json:"run"`
	// Offsets reports how many deltas the content of each item in progress has.
	Offsets map[string]int64 `json:"offsets,omitempty"`
	// Queued is the starts that wait; QueueVersion grows with each change of the queue.
	// Both are absent if no start has ever been queued in the session.
	Queued       *[]run.Shown `json:"queued,omitempty"`
	QueueVersion int64        `json:"queue_version,omitempty"`
}

// threadAnswer is a page of a thread.
type threadAnswer struct {
	rest.List

	// RunID is the run that the request started or queued; absent in other answers.
	RunID string `json:"run_id,omitempty"`
}

func (a *api) getThread(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	q, err := c.Query()
	if err != nil {
		return nil, err
	}
	order, err := q.Choice("order", "asc", "desc")
	if err != nil {
		return nil, err
	}
	p, err := threadPages(c, q, id, order)
	if err != nil {
		return nil, err
	}
	return a.threadReply(c, http.StatusOK, id, p, order == "desc", "")
}

// newThread answers a request that changed a session like GET thread without
// parameters, so the client need not read the session again, and with the run that was
// started, if any.
func (a *api) newThread(c *rest.Call, status int, id, started string) (*rest.Reply, error) {
	p, err := threadPages(c, rest.Query{}, id, "asc")
	if err != nil {
		return nil, err
	}
	p.URL = &url.URL{Path: baseOf(c) + "/sessions/" + id + "/thread"}
	return a.threadReply(c, status, id, p, false, started)
}

func threadPages(c *rest.Call, q rest.Query, id, order string) (rest.Pages, error) {
	return c.Pages(q, session.DefaultPage, "thread", id, order)
}

func (a *api) threadReply(c *rest.Call, status int, id string, p rest.Pages, descending bool, started string) (*rest.Reply, error) {
	from, err := p.Resumed()
	if err != nil {
		return nil, err
	}
	t, err := a.Runs.Thread(c.Context(), c.User, id, run.ThreadQuery{
		Descending: descending, Limit: p.Limit, Resume: from,
	})
	if err != nil {
		return nil, err
	}
	next, err := p.NextInLog(t.Next)
	if err != nil {
		return nil, err
	}
	body := threadBody{
		Session: c.AsCallerSees(t.Session), Status: t.Session.Status, Items: rest.EmptyIfNil(t.Items), Run: t.Run, Offsets: t.Offsets(),
		Cursor: watch.Cursor{Epoch: t.Session.Epoch, Seq: t.Seq, Offset: t.Offset},
	}
	if t.Queue.Version > 0 {
		queued := t.Queue.Shown()
		body.Queued, body.QueueVersion = &queued, t.Queue.Version
	}
	rep, err := rest.JSON(status, threadAnswer{rest.List{Data: body, Meta: rest.Meta{NextCursor: next}}, started})
	if err != nil {
		return nil, err
	}
	p.Link(rep.Header, next)
	return rep, nil
}
