package conversation

import (
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

const (
	// LookBack is how many events a list with one new message and no known one is
	// compared with: what older events have is not noticed.
	LookBack = 50
	// certain is the length from which the ids of calls are unique in a session. Agents
	// with shorter ones count them anew in each run.
	certain = 16
)

// ErrOlder is returned if an answer needs events that are older than those given.
var ErrOlder = errors.New("older events are needed")

// History is the effective events of a session, or the newest of them.
type History struct {
	Events []session.Event
	// Partial is set if there are older events.
	Partial bool
}

// Newest returns the newest events of a session as a history. Partial means that there
// are older ones; then the invocation of the first event may have begun earlier, so it is
// left out.
func Newest(events []session.Event, partial bool) History {
	from := 0
	for partial && from < len(events) && events[from].InvocationID == events[0].InvocationID {
		from++
	}
	return History{Events: events[from:], Partial: partial}
}

// Begins reports whether the history has an invocation from its beginning on. Of a
// partial one this is known of runs that began with a front end's input.
func (h History) Begins(invocation string) bool {
	for _, e := range h.Events {
		if e.InvocationID == invocation {
			return !h.Partial || IsInput(e) && e.Fields[run.FrontEndMember] != nil
		}
	}
	return false
}

// Split returns the history before an invocation, and the invocation's events.
func (h History) Split(invocation string) (before History, own []session.Event) {
	before = h
	for i, e := range h.Events {
		if e.InvocationID != invocation {
			continue
		}
		if own == nil {
			before.Events = h.Events[:i]
		}
		own = append(own, e)
	}
	return before, own
}

// Until returns the history before the first event of any of these invocations.
func (h History) Until(invocations ...string) History {
	for _, id := range invocations {
		if before, own := h.Split(id); id != "" && len(own) > 0 {
			h = before
		}
	}
	return h
}

// And returns the history followed by these events.
func (h History) And(events []session.Event) History {
	h.Events = slices.Concat(h.Events, events)
	return h
}

// With returns the history followed by the inputs among a run's events.
func (h History) With(own []session.Event) History {
	return h.And(slices.DeleteFunc(slices.Clone(own), func(e session.Event) bool { return !IsInput(e) }))
}

// Thread returns the thread of the history.
func (h History) Thread() *Thread {
	t := NewThread(h.Events)
	t.partial = h.Partial
	return t
}

// certain reports whether the ids of a piece do not depend on older events: whether a
// call has an id that is unique in the session, and whether a response has one.
func (p Piece) certain() bool {
	return p.Kind != PieceCall && p.Kind != PieceResponse || len(p.GivenID) >= certain
}

// Certain reports whether the ids of pieces do not depend on older events.
func Certain(pieces []Piece) bool {
	return !slices.ContainsFunc(pieces, func(p Piece) bool { return !p.certain() })
}

// certainCalls reports whether the ids of the thread's calls do not depend on older
// events.
func (t *Thread) certainCalls() bool { return !t.partial || !t.uncertain }

// Ended reports whether the thread has all that Open and Offered depend on.
func (t *Thread) Ended() bool {
	if !t.partial {
		return true
	}
	for _, e := range t.events {
		if IsInput(e) {
			_, whole := t.continued(t.events[len(t.events)-1].InvocationID)
			return whole && t.certainCalls()
		}
	}
	return false
}
