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
	*conversation.Growth

	step  int             // index of the item that began the step in progress; -1 for none
	calls map[string]bool // of the message
	// asked has the calls of older runs that a person answers or has answered.
	asked map[string]bool
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
	s := newStream(conversation.NewGrowth(b.Before, b.Included, b.State))
	s.asked = asked(b.Before.Events, b.RunID)
	turns := conversation.Turns(b.Before.Events)
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
		if t.Answer != answer {
			continue
		}
		older := s.input(t)
		if t.Invocation != b.RunID {
			older = append(older, s.whole(t)...)
		}
		if b.Replay || t.Invocation == b.RunID {
			out = append(out, older...)
		}
	}
	return s, out, nil
}

// answerOf returns the id of the message that shows a run.
func answerOf(turns []*conversation.Turn, runID string) string {
	for _, t := range turns {
		if t.Invocation == runID {
			return t.Answer
		}
	}
	return runID
}

// hasWhole reports whether the turns have all of a message, and its calls have ids that
// do not depend on older events.
func (s *Stream) hasWhole(turns []*conversation.Turn, answer string) bool {
	for i, t := range turns {
		if t.Answer != answer {
			continue
		}
		if i == 0 && t.Continues() || slices.ContainsFunc(slices.Concat(t.Inputs, t.Outputs), uncertain) {
			return false
		}
	}
	return true
}

// uncertain reports whether the ids of an event's calls may depend on older events.
func uncertain(e session.Event) bool {
	return !conversation.Certain(conversation.NewView().Pieces(e))
}

func newStream(g *conversation.Growth) *Stream {
	return &Stream{Growth: g, step: -1, calls: map[string]bool{}}
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
func (s *Stream) input(t *conversation.Turn) []Chunk {
	var out []Chunk
	for _, e := range t.Inputs {
		for _, p := range s.View.Pieces(e) {
			if p.Kind == conversation.PieceResponse && s.calls[p.CallID] {
				out = append(out, output(p.CallID, p.Value))
			}
		}
	}
	return out
}

// whole returns the chunks of a turn that is over.
func (s *Stream) whole(t *conversation.Turn) []Chunk {
	state := s.State
	s.State = nil
	var out []Chunk
	s.Grow(t.Outputs, func(i int) { out = append(out, s.update(i)...) })
	out = append(out, s.end()...)
	s.State = state
	return out
}

// end ends what is in progress.
func (s *Stream) end() []Chunk {
	out := s.Close()
	if s.step >= 0 {
		out = append(out, Chunk{"type": "finish-step"})
	}
	s.Items, s.step = nil, -1
	return out
}

// Close ends the parts in progress, for a stream that ends without completing them.
func (s *Stream) Close() []Chunk {
	var out []Chunk
	for _, it := range s.Items {
		if it.Done {
			continue
		}
		out = append(out, closeTexts(it.Sent)...)
		for _, sent := range it.Sent {
			if sent.Kind == conversation.PieceCall { // its run is over
				out = append(out, broken(sent, sent.Text))
			}
		}
	}
	return out
}

// Update returns the chunks that bring the reader to the run's events; inputs among
// them are left out. It returns conversation.ErrOlder, and changes nothing, if the ids of
// calls depend on older events than those before the run.
func (s *Stream) Update(events []session.Event) (out []Chunk, err error) {
	err = s.Growth.Update(events, nil, func(i int) { out = append(out, s.update(i)...) })
	return out, err
}

// update returns what is new in an item. A part that no longer begins with what was sent
// of it, as when an agent's final message differs from the streamed one, takes back its
// step and sends it again; one of an earlier step stays as it was sent.
func (s *Stream) update(i int) []Chunk {
	it := s.Items[i]
	if it.Extended(it.Pieces, extends) {
		return s.item(i)
	}
	if s.step < 0 || i < s.step {
		it.Done = true
		return closeTexts(it.Sent)
	}
	out := []Chunk{{"type": "reset-step"}}
	for _, again := range s.Items[s.step:] {
		again.Sent, again.Done = nil, false
	}
	for j := s.step; j < len(s.Items); j++ {
		out = append(out, s.item(j)...)
	}
	return out
}

// Finish returns the chunks that end the stream of a run: what is open is closed, and
// the run's outcome follows. A call that turns out to be a question to the person, since
// the agent has ended without a response, is sent again as one.
func (s *Stream) Finish(r run.Run) ([]Chunk, error) {
	open := map[string]bool{}
	for _, c := range s.View.Open(func(string) bool { return r.Status == run.Completed }) {
		open[c.ID] = true
	}
	waits, out := false, []Chunk(nil)
	for _, it := range s.Items {
		for i, p := range it.Pieces {
			if p.Kind != conversation.PieceCall || !open[p.CallID] || !it.Done {
				continue
			}
			waits = true
			if !p.Waits && i < len(it.Sent) {
				c := complete(it.Sent[i], p, true)
				c["providerExecuted"] = false
				out = append(out, c)
			}
		}
	}
	outputs := s.Events()
	out = append(out, s.end()...)
	return append(out, outcome(r, outputs, waits)), nil
}
