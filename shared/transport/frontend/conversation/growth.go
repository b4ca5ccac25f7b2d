package conversation

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
)

// Growth is the outputs of a run, while they grow, and what a reader was sent of them.
type Growth struct {
	Items []*Item // the run's, as of the last update
	View  *View
	State *State // what the reader has of the session's; nil sends none

	before   History
	included map[string]bool // events whose changes are part of the state already
	known    map[string]*Item
}

// Item is an output, and what was sent of it.
type Item struct {
	Event  session.Event
	Pieces []Piece
	Sent   []Sent // of its first pieces
	Done   bool   // nothing will be new
}

// Sent is what was sent of a piece.
type Sent struct {
	Kind     Kind
	ID, Name string // in the protocol
	Text     string // of a text, or of the arguments of a call
	Open     bool   // it was begun, and not ended
}

// NewGrowth returns the growth of a run after a history that includes the run's input. The
// state was read after the events in included.
func NewGrowth(before History, included []session.Event, state *State) *Growth {
	g := &Growth{State: state, included: map[string]bool{}, known: map[string]*Item{}}
	for _, e := range included {
		g.included[e.ID] = e.Status != session.EventInProgress
	}
	g.Before(before)
	return g
}

// Before replaces the history before the outputs, by the whole one if Update asks for it.
func (g *Growth) Before(h History) {
	g.before, g.View = h, h.Thread().View()
	for _, it := range g.Items {
		it.Pieces = g.View.Pieces(it.Event)
	}
}

// Thread returns the messages of the session, with those of the run so far.
func (g *Growth) Thread() *Thread { return g.before.And(g.Events()).Thread() }

// Events returns the events of the items.
func (g *Growth) Events() []session.Event {
	out := make([]session.Event, len(g.Items))
	for i, it := range g.Items {
		out[i] = it.Event
	}
	return out
}

// Update calls each with the index of each output that may have something new. It returns
// ErrOlder, and changes nothing, if the ids of calls depend on older events than those
// before the run, or if an output that was sent does not extend that, unless extends is
// nil: then older events do not matter to what replaces it.
func (g *Growth) Update(own []session.Event, extends func(Sent, Piece) bool, each func(i int)) error {
	outputs := slices.DeleteFunc(slices.Clone(own), IsInput)
	if g.before.Partial && slices.ContainsFunc(outputs, func(e session.Event) bool { return g.needsOlder(e, extends) }) {
		return ErrOlder
	}
	g.Grow(outputs, each)
	return nil
}

// Grow is Update for outputs that depend on no older events.
func (g *Growth) Grow(outputs []session.Event, each func(i int)) {
	g.Items = nil
	for i, e := range outputs {
		it := g.known[e.ID]
		if it == nil {
			it = &Item{}
			g.known[e.ID] = it
		}
		g.Items = append(g.Items, it)
		if !it.Done {
			it.Event, it.Pieces = e, g.View.Pieces(e)
			each(i)
		}
	}
}

func (g *Growth) needsOlder(e session.Event, extends func(Sent, Piece) bool) bool {
	it := g.known[e.ID]
	if it != nil && it.Done {
		return false
	}
	pieces := NewView().Pieces(e)
	return !Certain(pieces) || it != nil && extends != nil && !it.Extended(pieces, extends)
}

// Extended reports whether pieces of an item only extend what was sent of it.
func (it *Item) Extended(pieces []Piece, extends func(Sent, Piece) bool) bool {
	if len(pieces) < len(it.Sent) {
		return false
	}
	for i, sent := range it.Sent {
		if pieces[i].Kind != sent.Kind || !extends(sent, pieces[i]) {
			return false
		}
	}
	return true
}

// Whole reports whether the item is complete.
func (it *Item) Whole() bool { return it.Event.Status != session.EventInProgress }

// Changed returns the keys of the reader's state that an output has changed, and changes
// it; nil without any, and for an output whose changes it has.
func (g *Growth) Changed(e session.Event) session.Delta {
	if g.State == nil || g.included[e.ID] {
		return nil
	}
	return g.State.Change(e.StateDelta)
}
