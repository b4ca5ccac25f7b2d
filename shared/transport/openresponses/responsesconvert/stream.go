package responsesconvert

import (
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Event is an event of a stream, by the names of its members.
type Event map[string]any

// Type returns the type of the event.
func (e Event) Type() string {
	name, _ := e["type"].(string)
	return name
}

// Sequence numbers are positions in what is streamed, not counts of events, so that
// they follow from the session's log alone: a stream that begins later or in another
// process, or that sends the same text in other pieces, has the same numbers. Each byte
// of a text has a position, and a delta has that of its last byte.
const (
	positionCreated = iota
	positionQueued
	positionInProgress
	firstItem = 8
	// itemSpan is how many positions an item has, or a multiple of it if its text is
	// longer. The events that end an item have the last of them: they do not depend on the
	// text, which an agent's final message may change.
	itemSpan = 1 << 16
	// Positions of an item's beginning and of that of its part, before the text, and how
	// many events end an item.
	itemBegin, partBegin, textBegin = 0, 1, 2
	itemEnds                        = 4
)

// span returns the positions of an item with a text of n bytes.
func span(n int) int64 {
	return (int64(n) + textBegin + itemEnds + itemSpan - 1) / itemSpan * itemSpan
}

// Stream converts the events of a run, while they grow, to those of a stream.
type Stream struct {
	response Response
	// at is the position up to which the reader has everything; -1 at the beginning.
	at   int64
	sent []sentItem
	out  []Event
}

// sentItem is what this stream has sent of an item.
type sentItem struct {
	id, text string
}

// NewStream returns a stream that goes on after a sequence number; -1 begins it.
func NewStream(id ID, after int64) *Stream {
	return &Stream{response: Response{ID: id}, at: after}
}

// At returns the sequence number up to which the reader has everything.
func (s *Stream) At() int64 { return max(s.at, 0) }

// Begin returns the first events for a run with these events so far.
func (s *Stream) Begin(r run.Run, own []session.Event) []Event {
	s.response.Run, s.response.Own = r, own
	status := StatusInProgress
	if r.Status == run.Waiting {
		status = StatusQueued
	}
	s.add(positionCreated, Event{"type": "response.created", "response": s.response.begun(status)})
	if status == StatusQueued {
		s.add(positionQueued, Event{"type": "response.queued", "response": s.response.begun(status)})
		return s.flush()
	}
	return s.flush()
}

// Update returns the events that bring the reader to the run's events.
func (s *Stream) Update(own []session.Event) []Event {
	s.response.Own = own
	s.add(positionInProgress, Event{"type": "response.in_progress", "response": s.response.begun(StatusInProgress)})
	s.items(false)
	return s.flush()
}

// Finish returns the events that end the stream of a run that is over.
func (s *Stream) Finish(r run.Run) []Event {
	s.response.Run = r
	end := s.items(true)
	kind := "response.completed"
	switch status, _ := s.response.status(); status {
	case StatusFailed:
		kind = "response.failed"
	case StatusIncomplete:
		kind = "response.incomplete"
	case StatusCancelled: // neither the specification nor OpenAI's API has an event for it
		kind = "response.incomplete"
	}
	if s.at == end {
		return s.flush() // the reader has it
	}
	s.add(max(end, s.at+1), Event{"type": kind, "response": s.response.Object()})
	return s.flush()
}

func (s *Stream) flush() []Event {
	out := s.out
	s.out = nil
	return out
}

// add sends an event with a position that the reader does not have.
func (s *Stream) add(at int64, e Event) {
	if at <= s.at {
		return
	}
	e["sequence_number"] = at
	s.at = at
	s.out = append(s.out, e)
}

// items sends what is new in the items, and returns the position after them. An item
// begins when those before it are done.
func (s *Stream) items(over bool) int64 {
	r := newReader(s.response.Own, over)
	base, index := int64(firstItem), 0
	for _, e := range s.response.Own {
		if conversation.IsInput(e) {
			continue
		}
		for _, p := range r.items(e) {
			s.item(base, index, p)
			if !p.done {
				return base
			}
			base, index = base+span(len(p.text)), index+1
		}
		if e.Status == session.EventInProgress && !over {
			return base
		}
	}
	return base
}
