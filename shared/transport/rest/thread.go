package rest

import (
	"net/http"
	"net/url"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
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
	list

	// RunID is the run that the request started or queued; absent in other answers.
	RunID string `json:"run_id,omitempty"`
}

func (a *api) getThread(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	order, err := q.choice("order", "asc", "desc")
	if err != nil {
		return nil, err
	}
	p, err := c.threadPages(q, id, order)
	if err != nil {
		return nil, err
	}
	return a.threadReply(c, http.StatusOK, id, p, order == "desc", "")
}

// newThread answers a request that changed a session like GET thread without
// parameters, so the client need not read the session again, and with the run that was
// started, if any.
func (a *api) newThread(c *call, status int, id, started string) (*reply, error) {
	p, err := c.threadPages(query{}, id, "asc")
	if err != nil {
		return nil, err
	}
	p.url = &url.URL{Path: c.base() + "/sessions/" + id + "/thread"}
	return a.threadReply(c, status, id, p, false, started)
}

func (c *call) threadPages(q query, id, order string) (pages, error) {
	return c.pages(q, session.DefaultPage, "thread", id, order)
}

func (a *api) threadReply(c *call, status int, id string, p pages, descending bool, started string) (*reply, error) {
	from, err := p.resumed()
	if err != nil {
		return nil, err
	}
	t, err := a.Runs.Thread(c.Context(), c.user, id, run.ThreadQuery{
		Descending: descending, Limit: p.limit, Resume: from,
	})
	if err != nil {
		return nil, err
	}
	next, err := p.nextInLog(t.Next)
	if err != nil {
		return nil, err
	}
	body := threadBody{
		Session: c.asCallerSees(t.Session), Status: t.Session.Status, Items: emptyIfNil(t.Items), Run: t.Run, Offsets: t.Offsets(),
		Cursor: watch.Cursor{Epoch: t.Session.Epoch, Seq: t.Seq, Offset: t.Offset},
	}
	if t.Queue.Version > 0 {
		queued := t.Queue.Shown()
		body.Queued, body.QueueVersion = &queued, t.Queue.Version
	}
	rep, err := jsonReply(status, threadAnswer{list{Data: body, Meta: meta{NextCursor: next}}, started})
	if err != nil {
		return nil, err
	}
	p.link(rep.header, next)
	return rep, nil
}
