package runs

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// pushEvents stores complete events of an external run. An event with the id of
// the item in progress completes it.
func (a *api) pushEvents(c *rest.Call) (*rest.Reply, error) {
	body, err := c.Object()
	if err != nil {
		return nil, err
	}
	items, err := itemsOf(body, "events", session.MaxBatch, "events")
	if err != nil {
		return nil, err
	}
	ref, of, err := a.pushableRun(c)
	if err != nil {
		return nil, err
	}
	events, err := eventsOf(c, of, items)
	if err != nil {
		return nil, err
	}
	if err := c.AnswerWillFit(len(events)); err != nil {
		return nil, err
	}
	if err := a.Runs.Renew(c.Context(), ref); err != nil {
		return nil, err
	}
	if len(events) == 0 { // all of them partial
		return rest.JSON(http.StatusOK, rest.Data{Data: []session.Event{}})
	}
	stored, err := a.storeEvents(c, ref, events)
	if err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusCreated, rest.Data{Data: stored})
}

// eventsOf reads the events of a run.
func eventsOf(c *rest.Call, of run.Run, items []json.RawMessage) ([]session.Event, error) {
	for i, raw := range items {
		var err error
		if items[i], err = withRun(raw, "/events/"+strconv.Itoa(i), of.ID, of.Agent); err != nil {
			return nil, err
		}
	}
	events, _, err := c.Events(items, true)
	return events, err
}

// storeEvents stores events in order, so that their state changes are applied
// in order. The repeat of an interrupted request finds the stored ones by their
// ids.
func (a *api) storeEvents(c *rest.Call, ref run.Ref, events []session.Event) ([]session.Event, error) {
	item, at, err := a.completedItem(c, ref, events)
	if err != nil {
		return nil, err
	}
	if item == nil {
		return a.Runs.AppendEvents(c.Context(), ref, events)
	}
	whole, err := wholeEvent(events[at], item)
	if err != nil {
		return nil, err
	}
	var stored []session.Event
	if at > 0 {
		if stored, err = a.Runs.AppendEvents(c.Context(), ref, events[:at]); err != nil {
			return nil, err
		}
	}
	last, err := item.Complete(c.Context(), whole)
	if err != nil {
		return nil, err
	}
	stored = append(stored, last)
	if at+1 == len(events) {
		return stored, nil
	}
	rest, err := a.Runs.AppendEvents(c.Context(), ref, events[at+1:])
	return append(stored, rest...), err
}

// completedItem finds the item in progress, of which a run has at most one,
// that one of the events completes, and the index of that event.
func (a *api) completedItem(c *rest.Call, ref run.Ref, events []session.Event) (item run.Item, at int, err error) {
	for i, e := range events {
		if e.ID == "" {
			continue
		}
		if item, err = a.Runs.OpenItem(c.Context(), ref, e.ID); err != nil || item != nil {
			return item, i, err
		}
	}
	return nil, 0, nil
}

// wholeEvent returns the event that replaces an item. Absent content is the
// streamed content.
func wholeEvent(e session.Event, item run.Item) (session.Event, error) {
	if !jsonx.IsNull(e.Fields["content"]) {
		return e, nil
	}
	content, err := item.Content().Finish()
	if err != nil {
		return e, fault.New(fault.Invalid, "event %q needs content: what was streamed of it is not whole", e.ID)
	}
	e.Fields["content"] = content
	return e, nil
}
