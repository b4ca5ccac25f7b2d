package rethread

import (
	"context"
	"fmt"
	"strconv"
)

// Invocation appends the events of one invocation of a session. It gives them the ids
// <invocation id>.1, <invocation id>.2 …, by which the server recognises events that are
// sent again: nothing is stored twice, also if the program that appends them starts again.
// Of all appends that are safe to repeat these cost the least. Appends at the same time
// are sent one after another.
type Invocation struct {
	events    *Events
	sessionID string
	id        string
	turn      chan struct{} // holds a value while nobody appends
	next      int           // number of the next event; whoever appends may use it
}

// Invocation returns the writer of an invocation: a new one if id is "", or the one with
// an id that no other writer uses. Its numbers begin with 1, so a program that starts
// again must append the same events from the beginning.
func (e *Events) Invocation(sessionID, id string) *Invocation {
	if id == "" {
		id = newID()
	}
	i := &Invocation{events: e, sessionID: sessionID, id: id, turn: make(chan struct{}, 1), next: 1}
	i.turn <- struct{}{}
	return i
}

// ID returns the id of the invocation, for rewinds and forks.
func (i *Invocation) ID() string { return i.id }

// Append appends 1 to 100 events, all or none, and returns them as stored. The events must
// have neither an ID nor an InvocationID. After an error, append the same events again: their
// numbers stay the same. Other events are refused with ErrConflict if the first ones were
// stored.
func (i *Invocation) Append(ctx context.Context, events []EventRequest, opts ...Option) ([]Event, error) {
	select {
	case <-i.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { i.turn <- struct{}{} }()
	numbered, err := i.number(events)
	if err != nil {
		return nil, err
	}
	stored, err := i.events.Append(ctx, i.sessionID, AppendRequest{Events: numbered}, opts...)
	if err == nil {
		i.next += len(events)
	}
	return stored, err
}

// number returns events with their ids.
func (i *Invocation) number(events []EventRequest) ([]EventRequest, error) {
	out := make([]EventRequest, len(events))
	for n, e := range events {
		if e.ID != "" || e.InvocationID != "" {
			return nil, fmt.Errorf("%w: event %d has an id or an invocation id of its own", ErrInvalid, n)
		}
		e.ID, e.InvocationID = i.id+"."+strconv.Itoa(i.next+n), i.id
		out[n] = e
	}
	return out, nil
}
