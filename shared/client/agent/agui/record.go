package agui

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// recordMember is the member of an event with an record.
const recordMember = "ag_ui"

// record is what an event keeps of AG-UI besides its content. The same agent gets
// the ids and the encrypted values back with the history.
type record struct {
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
	Activities []activity      `json:"activities,omitempty"`
	Custom     []custom        `json:"custom,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"` // of the run
}

// activity is a message for the user interface, such as a plan.
type activity struct {
	MessageID string          `json:"message_id"`
	Type      string          `json:"activity_type"`
	Content   json.RawMessage `json:"content"`
}

// custom is an event of the agent's own.
type custom struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// isEmpty reports whether the record has nothing that an event without content would
// be needed for.
func (r record) isEmpty() bool {
	return len(r.Encrypted) == 0 && len(r.Activities) == 0 && len(r.Custom) == 0 && jsonx.IsNull(r.Result)
}

// recordOf returns the record of an event if it is of this agent.
func recordOf(e session.Event, agent string) record {
	var r record
	if raw := e.Fields[recordMember]; jsonx.IsNull(raw) || json.Unmarshal(raw, &r) != nil || r.Agent != agent {
		return record{} // of another agent, or somebody else's member of that name
	}
	return r
}

// message returns the id of the message that a part of the content belongs to.
func (r record) message(part int) string {
	if part < len(r.Messages) {
		return r.Messages[part]
	}
	return ""
}
