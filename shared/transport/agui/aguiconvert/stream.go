package aguiconvert

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Stream converts the events of a run, while they grow, to the events of AG-UI.
type Stream struct {
	before conversation.History // of the session, before the run's output
	state  *conversation.State
	// included has the ids of the events whose changes are part of the state already.
	included map[string]bool
	view     *conversation.View
	items    map[string]*sentItem
	own      []session.Event // the run's events as of the last update
}

// NewStream returns a stream of a run whose session has the history before; this
// includes the run's input. The state was read after the events in included.
func NewStream(before conversation.History, included []session.Event, state *conversation.State) *Stream {
	s := &Stream{state: state, items: map[string]*sentItem{}, included: map[string]bool{}}
	s.Before(before)
	for _, e := range included {
		s.included[e.ID] = e.Status != session.EventInProgress
	}
	return s
}

// Before replaces the history before the run's output, by the whole one if Update asks
// for it.
func (s *Stream) Before(h conversation.History) {
	s.before = h
	s.view = s.Thread().View()
}

// Update returns the protocol's events that bring the reader to the run's events;
// inputs among them are left out. It returns conversation.ErrOlder, and changes nothing,
// if the ids of calls depend on older events than those before the run, or if the reader
// needs all messages.
func (s *Stream) Update(events []session.Event) ([]Event, error) {
	if s.before.Partial && slices.ContainsFunc(events, s.needsOlder) {
		return nil, conversation.ErrOlder
	}
	s.own = s.own[:0]
	var out []Event
	for _, e := range events {
		if conversation.IsInput(e) {
			continue
		}
		s.own = append(s.own, e)
		if s.items[e.ID] == nil {
			s.items[e.ID] = &sentItem{open: -1}
		}
		if it := s.items[e.ID]; !it.done {
			out = append(out, s.item(it, e)...)
		}
	}
	return out, nil
}

func (s *Stream) needsOlder(e session.Event) bool {
	it := s.items[e.ID]
	if conversation.IsInput(e) || it != nil && it.done {
		return false
	}
	pieces := conversation.NewView().Pieces(e)
	return it != nil && !it.extendedBy(pieces) || !conversation.Certain(pieces)
}

// Thread returns the messages of the session, with those of the run so far.
func (s *Stream) Thread() *conversation.Thread {
	return s.before.And(s.own).Thread()
}

// item returns what is new in an event.
func (s *Stream) item(it *sentItem, e session.Event) []Event {
	pieces := s.view.Pieces(e)
	w := &itemWriter{stream: s, it: it, event: e, pieces: pieces, whole: e.Status != session.EventInProgress}
	if w.continues() {
		for i, p := range pieces {
			w.piece(i, p)
		}
		w.close()
	}
	if w.whole {
		w.finish()
	}
	return w.out
}
