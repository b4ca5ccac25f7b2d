package a2aconvert

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// openCall is a function call without a response.
type openCall struct {
	id       string // "" if it has none
	event    *session.Event
	declared bool // as long-running
}

// unanswered returns the last event of a completed run that has a function call without
// a response, and the ids of such calls: the user has to respond. In a run that was
// continued after its worker was lost, the agent may have gone on without a call that
// was interrupted. So a call there, after which the agent has said something, counts
// only if it is declared long-running.
func unanswered(r run.Run, events []session.Event) (last *session.Event, calls map[string]bool) {
	var open []openCall
	continued := r.Continuations > 0
	for i, e := range events {
		if e.InvocationID != r.ID {
			continue
		}
		parts := contentOf(e).Parts
		interrupted := e.Status == session.EventFailed
		continued = continued || interrupted
		if continued && !isInput(e) && slices.ContainsFunc(parts, func(p content.Part) bool { return p.Response == nil }) {
			open = slices.DeleteFunc(open, func(c openCall) bool { return !c.declared })
		}
		declared := declaredLongRunning(e)
		for _, p := range parts {
			switch {
			case p.Call != nil:
				if id := p.Call.ID; declared[id] || !interrupted {
					open = append(open, openCall{id, &events[i], declared[id]})
				}
			case p.Response != nil:
				open = slices.DeleteFunc(open, func(c openCall) bool { return c.id == p.Response.ID })
			}
		}
	}
	calls = map[string]bool{}
	for _, c := range open {
		last = c.event
		if c.id != "" {
			calls[c.id] = true
		}
	}
	return last, calls
}
