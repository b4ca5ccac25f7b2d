package run

import "github.com/rethread/rethread/shared/domain/session"

// isOver reports whether the worker must stop: the run has ended, or another worker
// has taken it over.
func (x *execution) isOver(r Run) bool {
	return r.Status.Final() || r.Continuations != x.ref.Continuation
}

// remember takes in what workers before this one had stored. It counts towards the
// run's limits.
func (x *execution) remember(said []session.Event) {
	x.items = len(said)
	x.said = make(map[string]session.Event, len(said))
	for _, e := range said {
		x.said[e.ID] = e
	}
}

// freshItem returns an item as it begins in the store. An agent that is called again
// may choose the same ids as before, and an item that was interrupted keeps its own.
func (x *execution) freshItem(start ItemStart) ItemStart {
	if _, taken := x.said[start.ID]; taken {
		start.ID = ""
	}
	return start
}

// freshEvent does the same for a whole event, unless it is stored already.
func (x *execution) freshEvent(e session.Event) session.Event {
	e.InvocationID = x.ref.RunID
	if was, taken := x.said[e.ID]; taken && (was.Status != session.EventCompleted || !was.SameAs(e)) {
		e.ID = ""
	}
	return e
}
