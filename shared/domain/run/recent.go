package run

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// HistoryLimit bounds the history that an agent is given. A zero bound is none.
type HistoryLimit struct {
	Turns int // number of the newest turns
	Bytes int // their approximate size as JSON
}

// IsZero reports whether an agent gets the whole history.
func (l HistoryLimit) IsZero() bool { return l == HistoryLimit{} }

// Recent selects the newest turns of a history within a limit. A turn is a series
// of events with one invocation; a turn that begins with the response to a function
// call is part of the turn before it. The newest turn, which is what the agent is
// asked, is selected however large it is.
type Recent struct {
	limit     HistoryLimit
	kept      []session.Event // newest first
	turns     int
	bytes     int
	turn      []session.Event // the turn being read, newest first
	turnBytes int
	truncated bool
}

// NewRecent returns a selection without any events.
func NewRecent(limit HistoryLimit) *Recent { return &Recent{limit: limit} }

// Add takes the event before those added so far. It returns false once the events
// before it are not needed.
func (r *Recent) Add(e session.Event) (more bool) {
	if n := len(r.turn); n > 0 && r.turn[n-1].InvocationID != e.InvocationID && !answersCall(r.turn[n-1]) {
		r.endTurn()
		r.truncated = r.truncated || r.limit.Turns > 0 && r.turns == r.limit.Turns
	}
	if r.truncated {
		return false
	}
	r.turn = append(r.turn, e)
	if r.turnBytes += e.Size(); r.exceedsBytes() {
		r.turn, r.truncated = nil, true
	}
	return !r.truncated
}

// Events returns the selected events, oldest first. It reports whether older ones
// were left out.
func (r *Recent) Events() (events []session.Event, truncated bool) {
	if !r.truncated {
		r.endTurn()
	}
	events = slices.Clone(r.kept)
	slices.Reverse(events)
	return events, r.truncated
}

func (r *Recent) endTurn() {
	r.kept = append(r.kept, r.turn...)
	r.bytes += r.turnBytes
	r.turn, r.turnBytes = nil, 0
	r.turns++
}

// exceedsBytes reports whether the turn being read has to be left out.
func (r *Recent) exceedsBytes() bool {
	return r.limit.Bytes > 0 && len(r.kept) > 0 && r.bytes+r.turnBytes > r.limit.Bytes
}

// answersCall reports whether an event contains the response to a function call.
func answersCall(e session.Event) bool {
	c, _ := content.Parse(e.Fields["content"])
	return slices.ContainsFunc(c.Parts, func(p content.Part) bool { return p.Response != nil })
}
