package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// attrTold marks the items that others are told of when they are written: the
// attribute of told.User. template.yaml filters the table's stream by it.
const attrTold = "tu"

// told is what an item that others are told of knows of whose it is, so that the
// change alone says it. Items that came by an import, that a fork or a rewind
// made, or that are of no interest to others have none.
type told struct {
	User    string `dynamodbav:"tu,omitempty"`
	Session string `dynamodbav:"tn,omitempty"`
	Agent   string `dynamodbav:"ta,omitempty"`
	// Chain is the automations that led to it, the first one first.
	Chain []string `dynamodbav:"tc,omitempty"`
}

// tells is what is told of something in a session. What is saved while an
// automation's run is active counts as its doing.
func (h *header) tells() told {
	return told{User: h.User, Session: h.id(), Agent: h.Agent, Chain: h.Cause}
}

// by is the same with other automations that led to it.
func (t told) by(chain []string) told {
	t.Chain = chain
	return t
}

// event is what happened to it.
func (t told) event(typ delivery.Type, id string, millis int64) delivery.Event {
	return delivery.Event{
		ID: id, Type: typ, UserID: t.User, SessionID: t.Session, Agent: t.Agent,
		Chain: t.Chain, Depth: len(t.Chain), Time: millis,
	}
}

// factID names a fact by parts of its item, whatever characters they hold.
func factID(kind string, parts ...any) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintln(h, part) // never fails
	}
	return kind + "." + hex.EncodeToString(h.Sum(nil)[:16])
}
