package conversation

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// Record is what an event of an agent that speaks AG-UI keeps of the protocol and
// other front ends can use.
type Record struct {
	Activities []ActivityRecord `json:"activities"`
	Custom     []CustomRecord   `json:"custom"`
	Result     json.RawMessage  `json:"result"` // of the run
}

// ActivityRecord is the content of an activity, which replaces that of its message.
type ActivityRecord struct {
	MessageID string          `json:"message_id"`
	Type      string          `json:"activity_type"`
	Content   json.RawMessage `json:"content"`
}

// CustomRecord is an event that is the agent's own.
type CustomRecord struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// RecordOf returns the record of an event, without what a stream could not contain.
func RecordOf(e session.Event) Record {
	var r, out Record
	if raw := e.Fields["ag_ui"]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil {
		return Record{} // somebody else's member of that name
	}
	for _, a := range r.Activities {
		if a.MessageID != "" && jsonx.IsObject(a.Content) {
			out.Activities = append(out.Activities, a)
		}
	}
	for _, c := range r.Custom {
		if len(c.Value) > 0 {
			out.Custom = append(out.Custom, c)
		}
	}
	if !jsonx.IsNull(r.Result) {
		out.Result = r.Result
	}
	return out
}
