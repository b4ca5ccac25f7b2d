package conversation

import (
	"cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Plan is what a request does to its session.
type Plan struct {
	// Rewind is the invocation before which the session is rewound first; "" for none.
	Rewind string
	// Input is the input of the run; empty if the request has nothing new.
	Input []session.Event
}

// Ends are the last runs of a session that its next start removes; "" for none.
type Ends struct {
	Discarded string // it failed or was cancelled
	Replaced  string // it is in progress, and the start cancels it and takes over its input
}

// Plan compares the list of messages with the session's effective events. What comes
// after the last message that the session knows, and after the last of the agent's,
// is new. The session is rewound if the front end asks anew while the session has
// gone on after that message; a list that is only shorter changes nothing. A rewind
// ends before an invocation, so the messages of that invocation which the list still
// has are input again. The same holds for those of a run that the next one discards; a
// run that it replaces leaves it its input anyway.
//
// The plan from a partial history is that from the whole one. It returns ErrOlder if it
// cannot know that: if the history has no message of the list, or not all of a run that
// is removed, or if the ids of calls matter that are not unique. It takes for granted
// that the list is in the order of the session.
func (in Input) Plan(h History, ends Ends) (Plan, error) {
	t := h.Thread()
	c, err := in.compare(t)
	if err != nil {
		return Plan{}, err
	}
	fresh, err := in.fresh(t, c.fresh)
	if err != nil {
		return Plan{}, err
	}
	if len(fresh) == 0 && !in.Regenerate {
		return Plan{}, nil
	}
	p := Plan{}
	last := c.last
	switch edited := t.find(in.Edit); {
	case in.Edit != "" && edited >= 0:
		last = edited - 1
		p.Rewind = t.eventOf(edited).InvocationID
	case in.Regenerate && len(fresh) == 0:
		if last = t.lastInput(last); last < 0 && t.partial {
			return Plan{}, ErrOlder
		}
		if last < 0 {
			return Plan{}, fault.Field(fault.Invalid, in.At, "must have a message to answer again")
		}
		p.Rewind = t.eventOf(last).InvocationID
	case !in.Append && last >= 0:
		last = max(last, in.answered(t, c.fresh))
		p.Rewind = t.dropped(last)
	}
	for _, removed := range []string{p.Rewind, ends.Discarded, ends.Replaced} {
		if removed != "" && h.Partial && !h.Begins(removed) {
			return Plan{}, ErrOlder
		}
	}
	from := cmp.Or(p.Rewind, ends.Discarded)
	switch p.Rewind {
	case "":
	case ends.Replaced:
		p.Rewind, from = "", ""
	case ends.Discarded:
		p.Rewind = ""
	}
	p.Input = append(t.repeated(from, last, c.listed), fresh...)
	if len(p.Input) > run.MaxInput {
		return Plan{}, fault.Field(fault.Invalid, in.At, "must have at most %d new messages", run.MaxInput)
	}
	return p, in.addOrigin(p.Input)
}

// addOrigin adds to the last input what the agent may use besides the messages.
func (in Input) addOrigin(input []session.Event) error {
	if len(input) == 0 {
		return nil
	}
	e := &input[len(input)-1]
	o := originOf(*e)
	o.FrontEnd = in.FrontEnd
	return setOrigin(e, o)
}
