package conversation

import "github.com/rethread/rethread/shared/domain/session"

// Turn is what one invocation added to a session: a person's inputs, and an agent's
// outputs.
type Turn struct {
	Invocation string
	// Answer is the invocation whose answer the outputs belong to: the turn's own, or that
	// of the turn before if this one's input only answers calls.
	Answer          string
	Inputs, Outputs []session.Event
}

// Turns returns the turns of a session's effective events, in the order of their beginning.
func Turns(events []session.Event) []*Turn {
	var turns []*Turn
	at := map[string]*Turn{}
	for _, e := range events {
		t := at[e.InvocationID]
		if t == nil {
			t = &Turn{Invocation: e.InvocationID, Answer: e.InvocationID}
			at[e.InvocationID] = t
			turns = append(turns, t)
		}
		if IsInput(e) {
			t.Inputs = append(t.Inputs, e)
		} else {
			t.Outputs = append(t.Outputs, e)
		}
	}
	for i, t := range turns {
		if i > 0 && t.Continues() {
			t.Answer = turns[i-1].Answer
		}
	}
	return turns
}

// Continues reports whether the turn continues the answer of the turn before: its input
// only answers calls.
func (t *Turn) Continues() bool { return len(t.Inputs) > 0 && !t.Says() }

// Says reports whether the input has more than responses to calls.
func (t *Turn) Says() bool {
	for _, e := range t.Inputs {
		for _, p := range NewView().Pieces(e) {
			if p.Kind != PieceResponse {
				return true
			}
		}
	}
	return false
}
