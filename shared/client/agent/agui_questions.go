package agent

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// interruptCall is the name of the function call that shows an interrupt.
const interruptCall = "ag_ui_interrupt"

// aguiResume answers an interrupt.
type aguiResume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload,omitempty"`
}

// questions are the agent's interrupts in the history. Those of its last run are open
// until the next one, which must answer each of them exactly once.
type questions struct {
	all     map[string]bool
	open    []string
	at      int // index of the event with the open ones
	answers map[string]json.RawMessage
	waiting bool // the event with the open ones has been reached
}

func questionsOf(events []session.Event, agent string) questions {
	q := questions{all: map[string]bool{}, at: -1, answers: map[string]json.RawMessage{}}
	for i, e := range events {
		record := aguiRecordOf(e, agent)
		for _, id := range record.Interrupts {
			q.all[id] = true
		}
		c, err := contentOf(e)
		switch {
		case err != nil: // reported when the event is added
		case len(record.Interrupts) > 0:
			q.open, q.at = record.Interrupts, i
			clear(q.answers)
		case len(c.Parts) > 0 && (record.Agent != "" || c.fromModel(e)): // the agent went on
			q.open, q.at = nil, -1
		default:
			q.take(c)
		}
	}
	return q
}

// take keeps the answers in a person's content.
func (q *questions) take(c content) {
	for _, raw := range c.Parts {
		if p := memberOf(raw); p.Response != nil && slices.Contains(q.open, p.Response.ID) {
			q.answers[p.Response.ID] = p.Response.Response
		}
	}
}

// isAbout reports whether a part is an interrupt or the answer to one; the messages
// do not contain these.
func (q *questions) isAbout(p contentMember) bool {
	return p.Call != nil && p.Call.Name == interruptCall && q.all[p.Call.ID] ||
		p.Response != nil && q.all[p.Response.ID]
}

// reached notes that an event has been added to the messages.
func (q *questions) reached(event int) { q.waiting = q.waiting || event == q.at }

// resume returns the answers to the open interrupts. One that the person did not
// answer is cancelled.
func (h *aguiHistory) resume() []aguiResume {
	out := make([]aguiResume, 0, len(h.questions.open))
	for _, id := range h.questions.open {
		payload := unwrapped(h.questions.answers[id])
		status := "resolved"
		if jsonx.IsNull(payload) {
			status, payload = "cancelled", nil
		}
		out = append(out, aguiResume{id, status, payload})
	}
	return out
}

// unwrapped returns the value of an answer: a function's response is an object, so
// another value is its only member, result, as in ADK.
func unwrapped(response json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(response, &members) != nil {
		return response
	}
	if result, ok := members["result"]; ok && len(members) == 1 {
		return result
	}
	return response
}
