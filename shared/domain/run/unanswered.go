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
	var open []string
	for _, e := range events {
		var content struct {
			Parts []struct {
				Call     *struct{ ID string } `json:"function_call"`
				Response *struct{ ID string } `json:"function_response"`
			} `json:"parts"`
		}
		if json.Unmarshal(e.Fields["content"], &content) != nil {
			continue // a content of another shape
		}
		long := e.LongRunningCalls()
		for _, p := range content.Parts {
			switch {
			case p.Call != nil && p.Call.ID != "" && !slices.Contains(long, p.Call.ID):
				open = append(open, p.Call.ID)
			case p.Response != nil:
				open = slices.DeleteFunc(open, func(id string) bool { return id == p.Response.ID })
			}
		}
	}
	return open
}
