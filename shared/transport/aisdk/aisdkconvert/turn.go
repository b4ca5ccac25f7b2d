package aisdkconvert

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// turn is what one invocation added to a session. A front end shows the user's messages
// of a turn first, then one message of the assistant.
type turn struct {
	invocation string
	// answer is the id of the assistant's message: the invocation's, or that of the
	// turn before if the input of this one only answers calls.
	answer          string
	inputs, outputs []session.Event
}

// turnsOf returns the turns of a session's effective events.
func turnsOf(events []session.Event) []*turn {
	var turns []*turn
	at := map[string]*turn{}
	for _, e := range events {
		t := at[e.InvocationID]
		if t == nil {
			t = &turn{invocation: e.InvocationID, answer: e.InvocationID}
			at[e.InvocationID] = t
			turns = append(turns, t)
		}
		if conversation.IsInput(e) {
			t.inputs = append(t.inputs, e)
		} else {
			t.outputs = append(t.outputs, e)
		}
	}
	for i, t := range turns {
		if i > 0 && t.continues() {
			t.answer = turns[i-1].answer
		}
	}
	return turns
}

// continues reports whether the turn continues the message of the turn before: its input
// only answers calls.
func (t *turn) continues() bool { return len(t.inputs) > 0 && !t.says() }

// says reports whether the input has more than responses to calls.
func (t *turn) says() bool {
	for _, e := range t.inputs {
		for _, p := range conversation.NewView().Pieces(e) {
			if p.Kind != conversation.PieceResponse {
				return true
			}
		}
	}
	return false
}

// invocations returns the invocations by the id of the assistant's message that shows
// them.
func invocations(turns []*turn) map[string][]string {
	out := map[string][]string{}
	for _, t := range turns {
		out[t.answer] = append(out[t.answer], t.invocation)
	}
	return out
}
