package run

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// UnansweredCalls returns the ids of the function calls in events that no later event
// responds to, in order. A long-running call is not among them: its response is a
// later input. Calls without an id cannot be named and are left out.
func UnansweredCalls(events []session.Event) []string {
	var ids []string
	for _, c := range openCalls(events) {
		if c.ID != "" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// call is the name and the id, if it has one, of a function call or response, and the
// index of the event that has it.
type call struct {
	ID, Name string
	event    int
}

// openCalls returns the calls that no later event responds to, without long-running ones.
func openCalls(events []session.Event) []call {
	var open []call
	for i, e := range events {
		c, _ := content.Parse(e.Fields["content"])
		long := e.LongRunningCalls()
		for _, p := range c.Parts {
			switch {
			case p.Call != nil && !slices.Contains(long, p.Call.ID):
				open = append(open, call{p.Call.ID, p.Call.Name, i})
			case p.Response != nil:
				open = call{ID: p.Response.ID, Name: p.Response.Name}.closes(open)
			}
		}
	}
	return open
}

// closes returns the open calls without those that a response is for: all with its id or,
// if there is none, the first with its name of which either has no id.
func (response call) closes(open []call) []call {
	rest := slices.DeleteFunc(slices.Clone(open), func(c call) bool { return c.ID != "" && c.ID == response.ID })
	if len(rest) < len(open) {
		return rest
	}
	i := slices.IndexFunc(open, func(c call) bool {
		return c.Name == response.Name && (c.ID == "" || response.ID == "")
	})
	if i < 0 {
		return open
	}
	return slices.Delete(rest, i, i+1)
}
