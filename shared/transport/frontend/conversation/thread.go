package conversation

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/session"
)

// Thread is what a session shows as messages.
type Thread struct {
	events  []session.Event
	entries []Message
	view    *View

	partial   bool // there are older events
	uncertain bool // a piece's ids may depend on older events
}

// NewThread returns the thread of a session's effective events.
func NewThread(events []session.Event) *Thread {
	t := &Thread{view: NewView()}
	for _, e := range events {
		t.add(e)
	}
	return t
}

// Messages returns the messages in order.
func (t *Thread) Messages() []Message { return t.entries }

// Events returns the events in order.
func (t *Thread) Events() []session.Event { return t.events }

// View returns the view that has read the thread's events.
func (t *Thread) View() *View { return t.view }

func (t *Thread) add(e session.Event) {
	t.events = append(t.events, e)
	pieces := t.view.Pieces(e)
	t.uncertain = t.uncertain || !Certain(pieces)
	switch {
	case !IsInput(e):
		t.addOutput(e, pieces)
	case InputRole(e) == User: // instructions are for the agent only
		t.addInput(e, pieces)
	}
	for _, a := range RecordOf(e).Activities {
		t.addActivity(a)
	}
}

func (t *Thread) append(m Message) *Message {
	m.event = len(t.events) - 1
	t.entries = append(t.entries, m)
	return &t.entries[len(t.entries)-1]
}

// addOutput adds the messages of an agent's event.
func (t *Thread) addOutput(e session.Event, pieces []Piece) {
	for i, p := range pieces {
		switch p.Kind {
		case PieceThought:
			t.append(Message{ID: MessageID(e, pieces, i), Role: Reasoning, Pieces: []Piece{p}})
		case PieceText:
			t.append(Message{ID: MessageID(e, pieces, i), Role: Assistant, Pieces: []Piece{p}})
		case PieceCall:
			if !p.Interrupt {
				t.addCall(MessageID(e, pieces, Parent(pieces, i)), p)
			}
		case PieceResponse:
			t.addResult(p, MessageID(e, pieces, i))
		case PieceOther, PieceFile: // no message
		}
	}
}

func (t *Thread) addCall(message string, p Piece) {
	var m *Message
	if i := t.find(message); i >= 0 {
		m = &t.entries[i]
	} else {
		m = t.append(Message{ID: message, Role: Assistant})
	}
	m.Pieces = append(m.Pieces, p)
}

// addResult adds a function's response as a tool's message. The answer to an interrupt
// is no message.
func (t *Thread) addResult(p Piece, id string) {
	if !p.Interrupt {
		t.append(ResultMessage(p, id))
	}
}

// ResultMessage returns the message of a response.
func ResultMessage(p Piece, id string) Message {
	return Message{ID: id, Role: Tool, CallID: cmp.Or(p.CallID, p.GivenID, id), Pieces: []Piece{p}}
}

// addInput adds the messages of a person's event: a tool's message for each response
// and one message with the rest.
func (t *Thread) addInput(e session.Event, pieces []Piece) {
	given := originOf(e).MessageID
	var said []Piece
	var responses int
	for _, p := range pieces {
		switch p.Kind {
		case PieceResponse:
			responses++
		case PieceText, PieceFile:
			said = append(said, p)
		case PieceOther, PieceThought, PieceCall:
		}
	}
	for i, p := range pieces {
		if p.Kind != PieceResponse {
			continue
		}
		id := cmp.Or(given, e.ID)
		if responses > 1 || len(said) > 0 {
			id = e.ID + ":" + strconv.Itoa(i)
		}
		t.addResult(p, id)
	}
	if len(said) > 0 {
		t.append(Message{ID: cmp.Or(given, e.ID), Role: User, Pieces: said})
	}
}

// addActivity adds an activity or replaces its content.
func (t *Thread) addActivity(a ActivityRecord) {
	for i := range t.entries {
		if t.entries[i].ID == a.MessageID && t.entries[i].Role == Activity {
			t.entries[i].Activity = a
			return
		}
	}
	t.append(Message{ID: a.MessageID, Role: Activity, Activity: a})
}

// find returns the index of the message with an id; -1 without one.
func (t *Thread) find(id string) int {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if t.entries[i].ID == id {
			return i
		}
	}
	return -1
}

// eventOf returns the event of an entry.
func (t *Thread) eventOf(i int) session.Event { return t.events[t.entries[i].event] }

// Shown returns the messages of an invocation, without a user's, as a front end would
// list them.
func (t *Thread) Shown(invocation string) []Given {
	var out []Given
	for i, m := range t.entries {
		if m.Role != User && t.eventOf(i).InvocationID == invocation {
			out = append(out, Given{ID: m.ID, Role: m.Role})
		}
	}
	return out
}

// Results returns the messages of an invocation's input that answer calls.
func (t *Thread) Results(invocation string) []Message {
	var out []Message
	for i, m := range t.entries {
		if of := t.eventOf(i); m.Role == Tool && of.InvocationID == invocation && IsInput(of) {
			out = append(out, m)
		}
	}
	return out
}

// Open returns the calls that a person has to answer: those of the last run that has any
// events and, if its input only answered calls, the others of the run before it. over
// reports whether the last run is over.
func (t *Thread) Open(over bool) []*Call {
	if len(t.events) == 0 {
		return nil
	}
	last := t.events[len(t.events)-1].InvocationID
	earlier, _ := t.continued(last)
	open := t.view.Open(func(runID string) bool { return runID != last || over })
	return slices.DeleteFunc(open, func(c *Call) bool {
		// An agent that speaks AG-UI takes a question for cancelled that its next run does not answer.
		return c.Run != last && (!earlier[c.Run] || c.Name == InterruptCall)
	})
}

// continued returns the invocations whose answer a run continues. whole is false if older
// events may have more.
func (t *Thread) continued(run string) (earlier map[string]bool, whole bool) {
	earlier = map[string]bool{}
	turns := Turns(t.events)
	i := slices.IndexFunc(turns, func(of *Turn) bool { return of.Invocation == run })
	for ; i >= 0 && turns[i].Continues(); i-- {
		if i == 0 {
			return earlier, !t.partial
		}
		earlier[turns[i-1].Invocation] = true
	}
	return earlier, true
}

// Offered returns the names of the tools that the front end offered with its last
// input.
func (t *Thread) Offered() []string {
	var names []string
	offered, _ := FrontEndOf(LastInput(t.events)).Functions(nil)
	for _, f := range offered {
		names = append(names, f.Name)
	}
	return names
}
