package agent

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// aguiMember is the member of an event with an aguiRecord.
const aguiMember = "ag_ui"

// aguiRecord is what an event keeps of AG-UI besides its content. The same agent gets
// the ids and the encrypted values back with the history.
type aguiRecord struct {
	Agent string `json:"agent"`
	// Messages has the id of the message of each part of the content; "" if it has
	// none.
	Messages []string `json:"messages,omitempty"`
	// Plain is set if the result of a tool was not a JSON object: the response has it
	// as result.
	Plain bool `json:"plain,omitempty"`
	// Encrypted has the encrypted values by the id of the message or tool call.
	Encrypted map[string]string `json:"encrypted_values,omitempty"`
	// Interrupts has the ids of the function calls that are interrupts, and Thread the
	// thread in which the agent waits for their answers.
	Thread     string          `json:"thread,omitempty"`
	Interrupts []string        `json:"interrupts,omitempty"`
	Activities []aguiActivity  `json:"activities,omitempty"`
	Custom     []aguiCustom    `json:"custom,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"` // of the run
}

// aguiActivity is a message for the user interface, such as a plan.
type aguiActivity struct {
	MessageID string          `json:"message_id"`
	Type      string          `json:"activity_type"`
	Content   json.RawMessage `json:"content"`
}

// aguiCustom is an event of the agent's own.
type aguiCustom struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// isEmpty reports whether the record has nothing that an event without content would
// be needed for.
func (r aguiRecord) isEmpty() bool {
	return len(r.Encrypted) == 0 && len(r.Activities) == 0 && len(r.Custom) == 0 && jsonx.IsNull(r.Result)
}

// aguiRecordOf returns the record of an event if it is of this agent.
func aguiRecordOf(e session.Event, agent string) aguiRecord {
	var r aguiRecord
	if raw := e.Fields[aguiMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil || r.Agent != agent {
		return aguiRecord{} // of another agent, or somebody else's member of that name
	}
	return r
}

// message returns the id of the message that a part of the content belongs to.
func (r aguiRecord) message(part int) string {
	if part < len(r.Messages) {
		return r.Messages[part]
	}
	return ""
}
