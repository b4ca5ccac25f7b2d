package agui

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// resume answers an interrupt.
type resume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload,omitempty"`
}

// resume returns the answers to the open interrupts. One that the person did not
// answer is cancelled.
func (h *history) resume() []resume {
	out := make([]resume, 0, len(h.questions.open))
	for _, id := range h.questions.open {
		payload := unwrapped(h.questions.answers[id])
		status := "resolved"
		if jsonx.IsNull(payload) {
			status, payload = "cancelled", nil
		}
		out = append(out, resume{id, status, payload})
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
