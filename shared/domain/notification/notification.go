// Package notification says what happened: the events of which webhooks, push
// notifications, automations and event buses hear, the change that each tells of, the
// filters by type, and the form as CloudEvents. Each function that reads a change depends
// on its argument alone, so that reading a change twice yields the same events with the
// same ids.
//
// It does not know how changes are stored, who the receivers are, or how events
// reach them.
package notification

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Attribution is the owner of a change, and what caused it.
type Attribution struct {
	UserID    string
	SessionID string
	Agent     string
	// Chain is the automations that led to it, the first one first.
	Chain []string
}

// event returns an event with this attribution; millis is its time in epoch
// milliseconds.
func (a Attribution) event(typ Type, id string, millis int64) Event {
	return Event{
		ID: id, Type: typ, UserID: a.UserID, SessionID: a.SessionID, Agent: a.Agent,
		Chain: a.Chain, Depth: len(a.Chain), Time: millis,
	}
}

// factID identifies a fact by its parts, whatever characters they contain.
func factID(kind string, parts ...any) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintln(h, part) // never fails
	}
	return kind + "." + hex.EncodeToString(h.Sum(nil)[:16])
}
