package run

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Shown is a queued start as threads and watch messages show it. Input is the events
// as their caller sent them; a list that is too large for a message has none.
type Shown struct {
	RunID      string            `json:"run_id"`
	Agent      string            `json:"agent"`
	Input      []json.RawMessage `json:"input,omitempty"`
	QueuedTime int64             `json:"queued_time"` // when it was accepted, in epoch milliseconds
}

// Shown returns the queued starts in order; never nil.
func (q Queue) Shown() []Shown {
	out := make([]Shown, len(q.Starts))
	for i, s := range q.Starts {
		out[i] = Shown{RunID: s.RunID, Agent: s.Agent, QueuedTime: s.Time, Input: make([]json.RawMessage, len(s.Input))}
		for j, e := range s.Input {
			own := e.Own()
			var members map[string]json.RawMessage
			if json.Unmarshal(own, &members) == nil { // always
				delete(members, "invocation_id")
				if e.ID == "" {
					delete(members, "id")
				}
				if sent, err := jsonx.Marshal(members); err == nil {
					own = sent
				}
			}
			out[i].Input[j] = own
		}
	}
	return out
}
