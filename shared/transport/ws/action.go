package ws

import (
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Actions of clients.
const (
	actionSubscribe   = "subscribe"
	actionUnsubscribe = "unsubscribe"
	actionPing        = "ping"
)

// action is a client's message, as far as it could be read. requestID and
// sessionID are set even for an invalid action, so that its answer can name
// them.
type action struct {
	name      string
	requestID string
	sessionID string
	from      watch.From
}

// parseAction reads a client's message. Names match exactly, null is a wrong
// type, and unknown members are refused: a misspelt position would otherwise
// silently begin elsewhere.
func parseAction(body string, binary bool) (action, error) {
	var a action
	if binary {
		return a, fault.New(fault.Malformed, "send text messages, not binary ones")
	}
	raw := []byte(body)
	o, err := jsonx.ParseObject(raw, "")
	if err != nil || !utf8.Valid(raw) {
		return a, fault.New(fault.Malformed, "the message must be a JSON object")
	}
	m := members{o}
	if flaw := jsonx.Check(raw); flaw != nil {
		return a, fault.Field(fault.Malformed, flaw.Pointer, "%s", flaw.Reason)
	}
	// The ids are read first, so that errors about the other members can name them.
	errs := []error{m.requestID(&a.requestID), m.id("session_id", &a.sessionID), m.Take("action", &a.name, "a string")}
	if a.name == "" && errs[2] == nil {
		errs[2] = fault.Field(fault.Malformed, "/action", "is required")
	}
	errs = append(errs, a.check(m))
	for _, err := range errs {
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

// check reads the members of the particular action.
func (a *action) check(m members) error {
	switch a.name {
	case actionPing:
		return m.Only("action", "request_id")
	case actionUnsubscribe:
		if err := m.Only("action", "request_id", "session_id"); err != nil {
			return err
		}
		return m.Required("session_id")
	case actionSubscribe:
		if err := m.Only("action", "request_id", "session_id", "last_item_id", "cursor"); err != nil {
			return err
		}
		if err := m.Required("session_id"); err != nil {
			return err
		}
		return a.position(m)
	case "":
		return nil // is an error already
	default:
		return fault.Field(fault.Invalid, "/action", "must be one of subscribe, unsubscribe, ping")
	}
}

// position reads the beginning of a subscription.
func (a *action) position(m members) error {
	if m.Has("last_item_id") && m.Has("cursor") {
		return fault.Field(fault.Invalid, "/cursor", "must be absent beside last_item_id")
	}
	if err := m.id("last_item_id", &a.from.LastItemID); err != nil || !m.Has("cursor") {
		return err
	}
	var text string
	if err := m.Take("cursor", &text, "a string"); err != nil {
		return err
	}
	cursor, err := watch.ParseCursor(text)
	if err != nil {
		return fault.Field(fault.Malformed, "/cursor", "must be a cursor: epoch.seq.offset")
	}
	a.from.Cursor = &cursor
	return nil
}

// members are the members of a message.
type members struct{ jsonx.Object }

// id reads an optional id; an invalid one is not set.
func (m members) id(name string, into *string) error {
	var s string
	err := m.Take(name, &s, "a string")
	if err == nil && m.Has(name) {
		err = ids.Check("/"+name, s)
	}
	if err == nil {
		*into = s
	}
	return err
}

// requestID reads the client's name for the action, any text of limited length.
func (m members) requestID(into *string) error {
	var s string
	err := m.Take("request_id", &s, "a string")
	if n := utf8.RuneCountInString(s); err == nil && m.Has("request_id") && (n == 0 || n > ids.MaxLength) {
		err = fault.Field(fault.Invalid, "/request_id", "must be 1 to %d characters", ids.MaxLength)
	}
	if err == nil {
		*into = s
	}
	return err
}
