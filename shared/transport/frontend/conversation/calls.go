package conversation

import (
	"strconv"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// InterruptCall is the name of the calls by which agents that speak AG-UI interrupt
// their runs. They are not shown as calls.
const InterruptCall = "ag_ui_interrupt"

// Call is a call of a function in a session.
type Call struct {
	ID       string // for front ends, unique in the session
	Name     string
	Args     string // JSON text, so far
	Run      string // the invocation
	Waits    bool   // its response is a later input, as the agent says
	Answered bool
	ByPerson bool // an input has answered it

	// Event is the id of its event, and GivenID its id there, which may be empty or not
	// unique.
	Event, GivenID string

	part         int
	continuation int  // how many workers were lost before its event
	lost         bool // its worker was lost, and the agent did not wait for an answer
}

// Open reports whether a person has to answer the call. An agent that calls a function
// of the person's ends its answer, so a call without a response is one if its run is
// over.
func (c *Call) Open(over bool) bool { return !c.Answered && !c.lost && (c.Waits || over) }

// answerable reports whether a person may answer the call, or has done so.
func (c *Call) answerable() bool { return c.Waits || c.ByPerson || c.Open(true) }

// calls are the calls of a session, in order. For front ends the ids of calls are
// unique in a session; agents may use an id again or have none, so such a call is shown
// with the id of its event and part.
type calls struct {
	list []*Call
	used map[string]bool
	byAt map[callAt]*Call
}

type callAt struct {
	event string
	part  int
}

func newCalls() *calls { return &calls{used: map[string]bool{}, byAt: map[callAt]*Call{}} }

// begin adds the call in a part of an event.
func (c *calls) begin(e session.Event, i int, call *content.Call) *Call {
	shown := call.ID
	if shown == "" || c.used[shown] {
		shown = e.ID + ":" + strconv.Itoa(i)
	}
	c.used[shown] = true
	one := &Call{
		ID: shown, Name: call.Name, Run: e.InvocationID, Event: e.ID, GivenID: call.ID, part: i, continuation: e.Continuation(),
	}
	c.list = append(c.list, one)
	c.byAt[callAt{e.ID, i}] = one
	return one
}

// at returns the call in a part of an event; nil without one.
func (c *calls) at(event string, part int) *Call { return c.byAt[callAt{event, part}] }

// answer returns the call that a response is for and marks it; nil without one. A
// response without an id is for the first open call with its name.
func (c *calls) answer(r *content.Response, byPerson bool) *Call {
	var found *Call
	for _, one := range c.list {
		if r.ID == "" && !one.Answered && one.Name == r.Name {
			found = one
			break
		}
		if r.ID != "" && one.GivenID == r.ID && (found == nil || !one.Answered) {
			found = one
		}
	}
	if found != nil {
		found.Answered, found.ByPerson = true, found.ByPerson || byPerson
	}
	return found
}

// interrupted marks the calls of a run that workers made which were lost before the one of
// this continuation: whether they were carried out is unknown.
func (c *calls) interrupted(invocation string, by int) {
	for _, one := range c.list {
		one.lost = one.lost || one.Run == invocation && one.continuation < by && !one.Waits && !one.Answered
	}
}

// shownAs returns the latest call with an id for front ends; nil without one.
func (c *calls) shownAs(id string) *Call {
	for i := len(c.list) - 1; i >= 0; i-- {
		if c.list[i].ID == id {
			return c.list[i]
		}
	}
	return nil
}
