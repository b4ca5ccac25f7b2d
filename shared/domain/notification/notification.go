// Package notification decides which events a change means for receivers: webhooks,
// push notifications and automations. Each function turns one kind of change into
// delivery.Events and depends on its argument alone, so that reading a change twice
// yields the same events with the same ids.
//
// It does not know how changes are stored, who the receivers are, or how events
// reach them; package delivery does.
package notification

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/rethread/rethread/shared/domain/delivery"
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
func (a Attribution) event(typ delivery.Type, id string, millis int64) delivery.Event {
	return delivery.Event{
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
