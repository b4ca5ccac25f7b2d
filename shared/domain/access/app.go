package access

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// CheckApp refuses changes of an app's state by a caller who may not make any; at is
// their JSON pointer in the request.
func (c Caller) CheckApp(delta session.Delta, at string) error {
	for _, key := range slices.Sorted(maps.Keys(delta)) {
		if scope, _ := session.ScopeOf(key); scope == session.ScopeApp {
			return c.CheckAppKey(at + "/" + jsonx.EscapePointer(key))
		}
	}
	return nil
}

// CheckAppKey is CheckApp for one key; at is its JSON pointer.
func (c Caller) CheckAppKey(at string) error {
	if c.ChangesApp {
		return nil
	}
	return fault.Field(fault.AppStateClosed, at, "is state of the app, which only its agents and services change in this deployment")
}

// Stamp returns an event of a request with the member created_by if a service sent it
// for a user, and without it otherwise.
func (c Caller) Stamp(e session.Event) session.Event {
	by := c.createdBy()
	switch _, has := e.Fields[session.CreatedBy]; {
	case by != nil:
		return e.With(session.CreatedBy, by)
	case has:
		return e.Without(session.CreatedBy)
	}
	return e
}

// StampAll stamps each of the events, in place.
func (c Caller) StampAll(events []session.Event) {
	for i, e := range events {
		events[i] = c.Stamp(e)
	}
}

// createdBy returns the service and the user that it acts for; nil for other callers.
func (c Caller) createdBy() json.RawMessage {
	if !c.Acts() {
		return nil
	}
	return mustText(map[string]json.RawMessage{"user_id": quoted(c.UserID), "service": quoted(c.Service)})
}

// StampNew names the caller in the event that a new session's state becomes.
func (c Caller) StampNew(n *session.New) { n.CreatedBy = c.createdBy() }

func quoted(text string) json.RawMessage { return jsonx.AppendString(nil, text) }
