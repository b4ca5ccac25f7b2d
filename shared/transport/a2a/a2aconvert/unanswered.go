package a2aconvert

import (
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// unanswered returns the last event of a completed run that has a function call for a
// person to answer, and the ids of such calls, as front ends show them.
func unanswered(r run.Run, events []session.Event) (last *session.Event, calls map[string]bool) {
	view, byID := conversation.NewView(), map[string]*session.Event{}
	for i, e := range events {
		if e.InvocationID == r.ID {
			view.Pieces(e)
			byID[e.ID] = &events[i]
		}
	}
	calls = map[string]bool{}
	for _, c := range view.Open(func(string) bool { return true }) {
		last = byID[c.Event]
		if c.GivenID != "" {
			calls[c.GivenID] = true
		}
	}
	return last, calls
}
