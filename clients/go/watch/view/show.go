package view

import (
	"slices"
)

// Session is what a state shows at one time; it does not change any more.
type Session struct {
	Items  []Event // those in progress with their content so far
	Status Status
	RunID  string   // of the run in progress, or that failed
	Error  *Problem // of the one that failed
	Epoch  int64    // how many rewinds there were
	// Deleted is set in the last one.
	Deleted bool
}

// Show is the session as it is known now.
func (s *State) Show() Session {
	out := Session{
		Items: make([]Event, len(s.items)), Status: s.status, RunID: s.runID, Error: s.problem,
		Epoch: s.epoch, Deleted: s.deleted,
	}
	for i, it := range s.items {
		out.Items[i] = it.render()
	}
	return out
}

// Item finds an item by its id.
func (s Session) Item(id string) (Event, bool) {
	i := slices.IndexFunc(s.Items, func(e Event) bool { return e.ID == id })
	if i < 0 {
		return Event{}, false
	}
	return s.Items[i], true
}
