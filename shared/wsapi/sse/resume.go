package sse

import (
	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/wsapi/subscription"
)

// known is what a reader who comes back has already, so that the end of a turn
// is not to be seen: a subscription begins with where things stand.
type known struct {
	// at is where the reader stands; nil for one who begins.
	at *watch.Cursor
	// status says that the reader has the status that held there.
	status bool
	// caughtUp says that this stream has told all that was there when it began.
	caughtUp bool
}

// has notes a message, and reports whether it brings the reader nothing.
func (k *known) has(m subscription.Message) bool {
	there := k.at != nil && m.Cursor == *k.at
	switch kind := watch.Type(m.Type); {
	case kind == watch.Snapshot && there && m.Item.Status == string(session.EventInProgress):
		return true // the deltas go on where they were
	case kind == watch.Status:
		there = there && k.status
		k.at, k.caughtUp = nil, true
		return there
	}
	k.at = nil
	return false
}

// reopened is for a subscription that follows one that broke.
func (k *known) reopened(at *watch.Cursor) { k.at, k.status = at, k.caughtUp }
