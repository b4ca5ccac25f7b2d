package adk

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// recordMember is the member of an event with an record.
const recordMember = "adk"

// record is what an event of an agent of ADK's keeps besides ADK's own members.
type record struct {
	// SessionID is the session of ADK's that waits for the responses to the event's
	// long-running calls.
	SessionID string `json:"session_id,omitempty"`
	// Artifact is the artifact of which the event has the content.
	Artifact *artifact `json:"artifact,omitempty"`
}

type artifact struct {
	Name    string      `json:"name"`
	Version json.Number `json:"version"`
}

func recordOf(e session.Event) record {
	var r record
	if raw := e.Fields[recordMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil {
		return record{} // somebody else's member of that name
	}
	return r
}
