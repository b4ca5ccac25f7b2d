package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// eventOverhead is roughly by how much a stored event is longer than the event
// sent.
const eventOverhead = 512

func (a *api) appendEvents(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	batch, err := c.batch(id)
	if err != nil {
		return nil, err
	}
	if err := c.answerWillFit(len(batch.Events)); err != nil {
		return nil, err
	}
	if len(batch.Events) == 0 { // all of them partial: nothing to store
		if _, err := a.Sessions.Get(c.Context(), c.user, id); err != nil {
			return nil, err
		}
		return jsonReply(http.StatusOK, data{[]session.Event{}})
	}
	stored, appended, err := a.Sessions.Append(c.Context(), batch)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if appended > 0 || c.findOnly { // what a repeat finds, an earlier attempt appended
		status = http.StatusCreated
	}
	rep, err := jsonReply(status, data{emptyIfNil(stored)})
	if err == nil {
		rep.rebuilt = batch.Keyed != nil && appended == len(stored) && foundByKey(batch, stored)
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

// batch reads the body of an append.
func (c *call) batch(sessionID string) (session.Append, error) {
	body, err := c.object()
	if err != nil {
		return session.Append{}, err
	}
	if !body.Has("events") {
		return session.Append{}, malformed("/events", "is required")
	}
	items, err := body.Array("events")
	if err != nil {
		return session.Append{}, err
	}
	if n := len(items); n == 0 || n > session.MaxBatch {
		return session.Append{}, fieldFault(fault.Invalid, "/events", "must hold 1 to %d events", session.MaxBatch)
	}
	var broken fault.Broken
	expected, err := body.expectedSeq()
	broken.Add(err)
	events, pointers, err := c.events(items, false)
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return session.Append{}, err
	}
	keyed, err := c.keyed(events, pointers)
	return session.Append{
		SessionID: sessionID, UserID: c.user, Events: events, ExpectedSeq: expected, Keyed: keyed,
	}, err
}

// keyed returns how the store recognises the batch under the request's idempotency key;
// nil without one.
func (c *call) keyed(events []session.Event, pointers []string) (*session.Keyed, error) {
	if c.key == "" {
		return nil, nil
	}
	name, err := c.derivedID("events")
	if err != nil {
		return nil, err
	}
	k := &session.Keyed{Name: name, IDs: make([]string, len(events)), FindOnly: c.findOnly}
	for i, e := range events {
		if e.ID != "" {
			continue
		}
		if k.IDs[i], err = c.derivedID("event " + strings.TrimPrefix(pointers[i], "/events/")); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// events reads the events of a batch without the partial ones, and their JSON
// pointers. With identify and an idempotency key each gets an id, so that a second try
// is a redelivery.
func (c *call) events(items []json.RawMessage, identify bool) (events []session.Event, pointers []string, err error) {
	var broken fault.Broken
	seen := map[string]bool{}
	for i, raw := range items {
		at := "/events/" + strconv.Itoa(i)
		e, err := session.ParseEvent(raw, at)
		if !broken.Add(err) || e.Partial {
			continue
		}
		broken.Add(e.CheckNew(at))
		e, err = c.permission.Admit(e, at)
		broken.Add(err)
		if e.ID == "" && c.key != "" && identify {
			if e.ID, err = c.derivedID(fmt.Sprintf("event %d", i)); err != nil {
				return nil, nil, err
			}
		}
		if e.ID != "" && seen[e.ID] {
			broken.Add(fieldFault(fault.Invalid, at+"/id", "is the id of another event of the batch"))
		}
		seen[e.ID] = true
		events, pointers = append(events, e), append(pointers, at)
	}
	return events, pointers, broken.Err()
}

// answerWillFit refuses a batch whose answer, the events themselves, would
// exceed the size limit, before it is stored.
func (c *call) answerWillFit(events int) error {
	room := answerLimit - events*eventOverhead
	if encodedSize(c.body) <= room {
		return nil
	}
	if acceptsGzip(c.Header) {
		packed, err := compress(c.body)
		if err != nil {
			return err
		}
		if encodedSize(packed) <= room {
			return nil
		}
	}
	return fault.New(fault.AnswerTooLarge, "the answer, which repeats the events, would be larger than 6 MB; "+
		"send Accept-Encoding: gzip or fewer events at once")
}

func (a *api) listEvents(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	q, p, err := c.eventQuery(id)
	if err != nil {
		return nil, err
	}
	page, err := a.Sessions.Events(c.Context(), c.user, id, q)
	if err != nil {
		return nil, err
	}
	next, err := p.nextInLog(page.Next)
	if err != nil {
		return nil, err
	}
	return p.listReply(emptyIfNil(c.permission.Events(page.Events)), next)
}

func (c *call) eventQuery(id string) (session.EventQuery, pages, error) {
	fail := func(err error) (session.EventQuery, pages, error) { return session.EventQuery{}, pages{}, err }
	params, err := c.query()
	if err != nil {
		return fail(err)
	}
	view, err := params.choice("view", string(session.Effective), string(session.All))
	if err != nil {
		return fail(err)
	}
	order, err := params.choice("order", "asc", "desc")
	if err != nil {
		return fail(err)
	}
	after, err := params.integer("after", 0, jsonx.MaxInteger, 0)
	if err != nil {
		return fail(err)
	}
	p, err := c.pages(params, session.DefaultPage, "events", id, view, order, strconv.FormatInt(after, 10))
	if err != nil {
		return fail(err)
	}
	from, err := p.resumed()
	if err != nil {
		return fail(err)
	}
	return session.EventQuery{
		View: session.View(view), Descending: order == "desc", After: after, Limit: p.limit,
		Resume: from,
	}, p, nil
}
