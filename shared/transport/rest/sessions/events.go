package sessions

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// Events handles the events of sessions.
func Events(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	for _, base := range []string{rest.Versioned, rest.Bare} {
		a.Handle(http.MethodPost, base+"/sessions/{session_id}/events", rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{Session: access.AppendEvents, Rebuilds: true}, a.appendEvents)))
		a.Handle(http.MethodGet, base+"/sessions/{session_id}/events", a.On(access.ReadSession, a.listEvents))
	}
	return a.Mux
}

func (a *api) appendEvents(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	batch, err := batchOf(c, id)
	if err != nil {
		return nil, err
	}
	if err := c.AnswerWillFit(len(batch.Events)); err != nil {
		return nil, err
	}
	if len(batch.Events) == 0 { // all of them partial: nothing to store
		if _, err := a.Sessions.Get(c.Context(), c.User, id); err != nil {
			return nil, err
		}
		return rest.JSON(http.StatusOK, rest.Data{Data: []session.Event{}})
	}
	stored, appended, err := a.Sessions.Append(c.Context(), batch)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if appended > 0 || c.FindOnly { // what a repeat finds, an earlier attempt appended
		status = http.StatusCreated
	}
	rep, err := rest.JSON(status, rest.Data{Data: rest.EmptyIfNil(stored)})
	if err == nil {
		rep.Rebuilt = batch.Keyed != nil && appended == len(stored) && foundByKey(batch, stored)
	}
	return rep, err
}

// foundByKey reports whether the store finds all events of a batch by the key of the
// request: their ids are of their positions.
func foundByKey(batch session.Append, stored []session.Event) bool {
	for i, e := range stored {
		if seq, ok := session.PositionOf(e.ID); !ok || seq != e.Seq || batch.Keyed.IDs[i] == "" {
			return false
		}
	}
	return true
}

// batchOf reads the body of an append.
func batchOf(c *rest.Call, sessionID string) (session.Append, error) {
	body, err := c.Object()
	if err != nil {
		return session.Append{}, err
	}
	if !body.Has("events") {
		return session.Append{}, rest.Malformed("/events", "is required")
	}
	items, err := body.Array("events")
	if err != nil {
		return session.Append{}, err
	}
	if n := len(items); n == 0 || n > session.MaxBatch {
		return session.Append{}, rest.FieldFault(fault.Invalid, "/events", "must hold 1 to %d events", session.MaxBatch)
	}
	var broken fault.Broken
	expected, err := body.ExpectedSeq()
	broken.Add(err)
	events, pointers, err := c.Events(items, false)
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return session.Append{}, err
	}
	keyed, err := keyedBy(c, events, pointers)
	return session.Append{
		SessionID: sessionID, UserID: c.User, Events: events, ExpectedSeq: expected, Keyed: keyed,
	}, err
}

// keyedBy returns how the store recognises the batch under the request's idempotency key;
// nil without one.
func keyedBy(c *rest.Call, events []session.Event, pointers []string) (*session.Keyed, error) {
	if c.Key == "" {
		return nil, nil
	}
	name, err := c.DerivedID("events")
	if err != nil {
		return nil, err
	}
	k := &session.Keyed{Name: name, IDs: make([]string, len(events)), FindOnly: c.FindOnly}
	for i, e := range events {
		if e.ID != "" {
			continue
		}
		if k.IDs[i], err = c.DerivedID("event " + strings.TrimPrefix(pointers[i], "/events/")); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (a *api) listEvents(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	q, p, err := eventQuery(c, id)
	if err != nil {
		return nil, err
	}
	page, err := a.Sessions.Events(c.Context(), c.User, id, q)
	if err != nil {
		return nil, err
	}
	next, err := p.NextInLog(page.Next)
	if err != nil {
		return nil, err
	}
	return p.ListReply(rest.EmptyIfNil(c.Permission.Events(page.Events)), next)
}

func eventQuery(c *rest.Call, id string) (session.EventQuery, rest.Pages, error) {
	fail := func(err error) (session.EventQuery, rest.Pages, error) {
		return session.EventQuery{}, rest.Pages{}, err
	}
	params, err := c.Query()
	if err != nil {
		return fail(err)
	}
	view, err := params.Choice("view", string(session.Effective), string(session.All))
	if err != nil {
		return fail(err)
	}
	order, err := params.Choice("order", "asc", "desc")
	if err != nil {
		return fail(err)
	}
	after, err := params.Integer("after", 0, jsonx.MaxInteger, 0)
	if err != nil {
		return fail(err)
	}
	p, err := c.Pages(params, session.DefaultPage, "events", id, view, order, strconv.FormatInt(after, 10))
	if err != nil {
		return fail(err)
	}
	from, err := p.Resumed()
	if err != nil {
		return fail(err)
	}
	return session.EventQuery{
		View: session.View(view), Descending: order == "desc", After: after, Limit: p.Limit,
		Resume: from,
	}, p, nil
}
