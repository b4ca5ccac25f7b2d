package runs

import (
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// attrStartsNext is the attribute of runMarks.StartsNext and queueItem.StartsNext.
const attrStartsNext = "nq"

// StartsQueued reports whether a change lets the first run of a session's queue begin,
// and returns the session and its owner. The caller then calls StartQueued.
func StartsQueued(c records.Change) (userID, sessionID string, starts bool) {
	if c.New[attrStartsNext] == nil {
		return "", "", false
	}
	var by eventlog.Attribution
	if err := table.Decode(c.New, &by); err != nil || by.User == "" || by.Session == "" {
		return "", "", false // it is left to SweepQueues
	}
	return by.User, by.Session, true
}
