package aisdkconvert

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Stream converts the events of a run, while they grow, to the chunks of the message
// that shows them.
type Stream struct {
	view *conversation.View
	// state is what the front end has; nil sends none.
	state    *conversation.State
	included map[string]bool // events whose changes are part of the state already
	before   conversation.History

	items []*item
	step  int             // index of the item that began the step in progress; -1 for none
	calls map[string]bool // of the message
	// asked has the calls of older runs that a person answers or has answered.
	asked map[string]bool
}

// item is an event and what was sent of it.
type item struct {
	event  session.Event
	pieces []conversation.Piece
	parts  []sentPart
	done   bool
}

// Start is where a stream begins.
type Start struct {
	SessionID, RunID string
	// Before is the history before the run's output, with the run's input.
	Before conversation.History
	// Included is the events after which State was read.
	Included []session.Event
	State    *conversation.State
	// Replay sends the parts of the message that are older than the run, too: those of
	// the runs whose calls the run's input answers.
	Replay bool
}

// NewStream returns the stream of a run, and its first chunks. It returns
// conversation.ErrOlder if the message began before the history.
func NewStream(b Start) (*Stream, []Chunk, error) {
	s := newStream(conversation.NewView())
	s.state, s.before = b.State, b.Before
	for _, e := range b.Included {
		s.included[e.ID] = e.Status != session.EventInProgress
	}
	s.asked = asked(b.Before.Events, b.RunID)
	turns := turnsOf(b.Before.Events)
	answer := answerOf(turns, b.RunID)
	if b.Before.Partial && !s.hasWhole(turns, answer) {
		return nil, nil, conversation.ErrOlder
	}
	out := []Chunk{
		{"type": "start", "messageId": answer},
		Transient(DataRun, map[string]any{"run_id": b.RunID, "session_id": b.SessionID}),
	}
	if b.State != nil {
		out = append(out, Transient(DataState, b.State.Values()))
	}
	for _, t := range turns {
		if t.answer != answer { // another message, whose calls are not this one's
			for _, e := range slices.Concat(t.inputs, t.outputs) {
				s.view.Pieces(e)
			}
			continue
		}
		older := s.input(t)
		if t.invocation != b.RunID {
			older = append(older, s.whole(t)...)
		}
		if b.Replay || t.invocation == b.RunID {
			out = append(out, older...)
		}
	}
	return s, out, nil
}

// answerOf returns the id of the message that shows a run.
func answerOf(turns []*turn, runID string) string {
	for _, t := range turns {
		if t.invocation == runID {
			return t.answer
		}
	}
	return runID
}

// hasWhole reports whether the turns have all of a message, and its calls have ids that
// do not depend on older events.
func (s *Stream) hasWhole(turns []*turn, answer string) bool {
	for i, t := range turns {
		if t.answer != answer {
			continue
		}
		if i == 0 && t.continues() || slices.ContainsFunc(slices.Concat(t.inputs, t.outputs), uncertain) {
			return false
		}
	}
	return true
}

// uncertain reports whether the ids of an event's calls may depend on older events.
func uncertain(e session.Event) bool {
	return !conversation.Certain(conversation.NewView().Pieces(e))
}

// Before replaces the history before the run's output, by the whole one if Update asks
// for it.
func (s *Stream) Before(h conversation.History) {
	s.before, s.view = h, conversation.NewView()
	for _, e := range h.Events {
		s.view.Pieces(e)
	}
	for _, it := range s.items {
		it.pieces = s.view.Pieces(it.event)
	}
}

func newStream(v *conversation.View) *Stream {
	return &Stream{view: v, included: map[string]bool{}, step: -1, calls: map[string]bool{}}
}

// asked returns the calls that a person has answered or has to answer, apart from those
// of a run in progress that its agent may still answer.
func asked(events []session.Event, inProgress string) map[string]bool {
	v := conversation.NewView()
	for _, e := range events {
		v.Pieces(e)
	}
	return v.Asked(func(runID string) bool { return runID != inProgress })
}

// input returns the chunks for the responses of a turn's input to calls of the message.
func (s *Stream) input(t *turn) []Chunk {
	var out []Chunk
	for _, e := range t.inputs {
		for _, p := range s.view.Pieces(e) {
			if p.Kind == conversation.PieceResponse && s.calls[p.CallID] {
				out = append(out, output(p.CallID, p.Value))
			}
		}
	}
	return out
}

// whole returns the chunks of a turn that is over.
func (s *Stream) whole(t *turn) []Chunk {
	state := s.state
	s.state = nil
	out := append(s.outputs(t.outputs), s.end()...)
	s.state = state
	return out
}

// end ends what is in progress.
func (s *Stream) end() []Chunk {
	out := s.Close()
	if s.step >= 0 {
		out = append(out, Chunk{"type": "finish-step"})
	}
	s.items, s.step = nil, -1
	return out
}

// Close ends the parts in progress, for a stream that ends without completing them.
func (s *Stream) Close() []Chunk {
	var out []Chunk
	for _, it := range s.items {
		if !it.done {
			out = append(out, it.close(len(it.parts))...)
			out = append(out, it.unfinished()...)
		}
	}
	return out
}

// Update returns the chunks that bring the reader to the run's events; inputs among
// them are left out. It returns conversation.ErrOlder, and changes nothing, if the ids of
// calls depend on older events than those before the run.
func (s *Stream) Update(events []session.Event) ([]Chunk, error) {
	outputs := slices.DeleteFunc(slices.Clone(events), conversation.IsInput)
	for i, e := range outputs {
		if s.before.Partial && (i >= len(s.items) || !s.items[i].done) && uncertain(e) {
			return nil, conversation.ErrOlder
		}
	}
	return s.outputs(outputs), nil
}

func (s *Stream) outputs(events []session.Event) []Chunk {
	var out []Chunk
	for i, e := range events {
		if i == len(s.items) {
			s.items = append(s.items, &item{})
		}
		if it := s.items[i]; !it.done {
			it.event, it.pieces = e, s.view.Pieces(e)
			out = append(out, s.update(i)...)
		}
	}
	return out
}

// update returns what is new in an item. A part that no longer begins with what was sent
// of it, as when an agent's final message differs from the streamed one, takes back its
// step and sends it again; one of an earlier step stays as it was sent.
func (s *Stream) update(i int) []Chunk {
	if s.items[i].continues() {
		return s.item(i)
	}
	if s.step < 0 || i < s.step {
		s.items[i].done = true
		return s.items[i].close(len(s.items[i].parts))
	}
	out := []Chunk{{"type": "reset-step"}}
	for j := s.step; j < len(s.items); j++ {
		s.items[j].parts, s.items[j].done = nil, false
	}
	for j := s.step; j < len(s.items); j++ {
		out = append(out, s.item(j)...)
	}
	return out
}

// Finish returns the chunks that end the stream of a run: what is open is closed, and
// the run's outcome follows. A call that turns out to be a question to the person, since
// the agent has ended without a response, is sent again as one.
func (s *Stream) Finish(r run.Run) []Chunk {
	open := map[string]bool{}
	for _, c := range s.view.Open(func(string) bool { return r.Status == run.Completed }) {
		open[c.ID] = true
	}
	waits, out := false, []Chunk(nil)
	for _, it := range s.items {
		for i, p := range it.pieces {
			if p.Kind != conversation.PieceCall || !open[p.CallID] || !it.done {
				continue
			}
			waits = true
			if !p.Waits && i < len(it.parts) {
				c := it.parts[i].complete(p, true)
				c["providerExecuted"] = false
				out = append(out, c)
			}
		}
	}
	outputs := make([]session.Event, len(s.items))
	for i, it := range s.items {
		outputs[i] = it.event
	}
	out = append(out, s.end()...)
	return append(out, outcome(r, outputs, waits))
}
