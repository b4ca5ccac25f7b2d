package aguiconvert

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Stream converts the events of a run, while they grow, to the events of AG-UI.
type Stream struct{ *conversation.Growth }

// NewStream returns a stream of a run whose session has the history before; this
// includes the run's input. The state was read after the events in included.
func NewStream(before conversation.History, included []session.Event, state *conversation.State) *Stream {
	return &Stream{conversation.NewGrowth(before, included, state)}
}

// Update returns the protocol's events that bring the reader to the run's events;
// inputs among them are left out. It returns conversation.ErrOlder, and changes nothing,
// if the ids of calls depend on older events than those before the run, or if the reader
// needs all messages.
func (s *Stream) Update(events []session.Event) (out []Event, err error) {
	err = s.Growth.Update(events, extends, func(i int) {
		w := &itemWriter{stream: s, it: s.Items[i]}
		w.write()
		out = append(out, w.out...)
	})
	return out, err
}
