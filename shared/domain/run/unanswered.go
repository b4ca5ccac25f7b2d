package run

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
)

// UnansweredCalls returns the ids of the function calls in events that no later event
// responds to, in order. A long-running call is not among them: its response is a
// later input. Calls without an id cannot be named and are left out.
func UnansweredCalls(events []session.Event) []string {
	var ids []string
	for _, c := range openCalls(events, "") {
		if c.ID != "" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// call is the name and the id, if it has one, of a function call or response.
type call struct{ ID, Name string }

// openCalls returns the calls of an invocation, or of all for "", that no later event
// responds to, without long-running ones.
func openCalls(events []session.Event, invocation string) []call {
	var open []call
	for _, e := range events {
		var content struct {
			Parts []struct {
				Call     *call `json:"function_call"`
				Response *call `json:"function_response"`
			} `json:"parts"`
		}
		if json.Unmarshal(e.Fields["content"], &content) != nil {
			continue // a content of another shape
		}
		long := e.LongRunningCalls()
		for _, p := range content.Parts {
			switch {
			case p.Call != nil && !slices.Contains(long, p.Call.ID) && (invocation == "" || e.InvocationID == invocation):
				open = append(open, *p.Call)
			case p.Response != nil:
				if i := slices.IndexFunc(open, p.Response.answers); i >= 0 {
					open = slices.Delete(open, i, i+1)
				}
			}
		}
	}
	return open
}

// answers reports whether a response is one to a call: by the id or, if either has none,
// by the name.
func (response call) answers(c call) bool {
	if response.ID == "" || c.ID == "" {
		return response.Name == c.Name
	}
	return response.ID == c.ID
}
