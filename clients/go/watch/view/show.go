package view

import (
	"slices"
)

// Session is a session at one moment. Later messages do not change it.
type Session struct {
	Items  []Event // effective events in log order; those in progress with their content so far
	Status Status
	RunID  string   // of the run in progress or the failed run
	Error  *Problem // of the failed run
	Kept   bool     // whether the next input leaves the failed run in the session
	Epoch  int64    // number of rewinds
	// Queued holds the inputs that wait for runs of their own, in order. QueueVersion
	// grows with each change of it; it is 0 in a session that never had any.
	Queued       []Queued
	QueueVersion int64
	// Deleted is set in the last call after the session was deleted.
	Deleted bool
}

// Show returns the session as currently known.
func (s *State) Show() Session {
	out := Session{
		Items: make([]Event, len(s.items)), Status: s.status, RunID: s.runID, Error: s.problem, Kept: s.kept,
		Epoch: s.epoch, Queued: s.queue.inputs, QueueVersion: s.queue.version, Deleted: s.deleted,
	}
	for i, it := range s.items {
		out.Items[i] = it.render()
	}
	return out
}

// Item returns the item with an id, and whether there is one.
func (s Session) Item(id string) (Event, bool) {
	i := slices.IndexFunc(s.Items, func(e Event) bool { return e.ID == id })
	if i < 0 {
		return Event{}, false
	}
	return s.Items[i], true
}
