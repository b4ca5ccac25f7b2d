package sessions

import (
	"github.com/rethread/rethread/shared/store/eventlog"
)

// Attribution returns the attribution for writes in the session. Writes during an
// automation's run are attributed to the automation.
func (h *Header) Attribution() eventlog.Attribution {
	return eventlog.Attribution{User: h.User, Session: h.ID(), Agent: h.Agent, Chain: h.CausedBy}
}
