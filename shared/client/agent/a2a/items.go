package a2a

import (
	"fmt"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// maxSaid bounds what an A2A agent may say in one run, in bytes: all of it is kept,
// because the agent may send it again.
const maxSaid = 32 << 20

// items turns artifacts and messages into items, of which one is in progress. Both
// have ids, and may be sent again: as the last chunk, in a task that was asked for,
// or as the status. Only what is new of them is said.
type items struct {
	out *output.Producer
	// member returns the record of an item.
	member func(item, digest string) (any, error)

	said    map[string][]piece // of completed items, by id
	earlier map[string]string  // digests of what earlier runs of the task said
	size    int                // of what was said

	id     string // of the item in progress
	open   bool
	pieces []piece
	shown  map[int]int // the pieces' places among the deltas
	fixed  bool        // the deltas do not lead to the pieces any more
}

func newItems(out *output.Producer, earlier map[string]string) *items {
	return &items{out: out, said: map[string][]piece{}, earlier: earlier}
}

// say handles parts of the artifact or message with an id; "" for a message without
// one. With more they are appended to what it said, otherwise they are all of it.
func (s *items) say(id string, parts []part, more bool) error {
	pieces, err := piecesOf(parts)
	if err != nil {
		return s.out.Malformed("a part", err)
	}
	if !more && id != "" && s.earlier[id] == digest(pieces) {
		return nil
	}
	if id == "" {
		id = fmt.Sprintf("#%d", s.out.Position())
	}
	if !more {
		pieces = without(s.said[id], pieces)
	}
	if len(pieces) == 0 {
		return nil
	}
	if !s.open || s.id != id {
		if err := s.complete(); err != nil {
			return err
		}
		s.id, s.open, s.pieces, s.shown, s.fixed = id, true, nil, map[int]int{}, false
	}
	if more {
		pieces = joined(s.pieces, pieces...)
	}
	return s.show(pieces)
}

// show replaces the pieces of the item in progress, with deltas for what is added.
func (s *items) show(pieces []piece) error {
	if len(pieces) > content.MaxParts {
		return endpoint.NewError(run.CodeLimit, "the agent produced an item of more than %d parts", content.MaxParts)
	}
	s.fixed = s.fixed || len(pieces) < len(s.pieces)
	for i, p := range pieces {
		more := p.text
		if i < len(s.pieces) {
			var ok bool
			if more, ok = p.beyond(s.pieces[i]); !ok {
				s.fixed = true
			}
		}
		if s.fixed {
			break
		}
		if err := s.delta(i, p, more); err != nil {
			return err
		}
	}
	size := 0
	for _, p := range pieces {
		size += p.size()
	}
	if s.size+size > maxSaid {
		return endpoint.NewError(run.CodeLimit, "the agent produced more than %d bytes", maxSaid)
	}
	s.pieces = pieces
	return nil
}

// delta shows what is new of a piece. Files and data are shown with the whole event.
func (s *items) delta(i int, p piece, more string) error {
	at, begun := s.shown[i]
	if !begun {
		at = len(s.shown)
	}
	d := content.Delta{Part: at, Thought: p.thought, Text: more}
	switch {
	case p.call != nil && !begun:
		d.Call = p.call
	case !p.isText || more == "":
		return nil
	}
	s.shown[i] = at
	return s.out.Delta(d)
}

// complete completes the item in progress.
func (s *items) complete() error {
	if !s.open {
		return nil
	}
	all := joined(s.said[s.id], s.pieces...)
	for _, p := range s.pieces {
		s.size += p.size()
	}
	s.said[s.id], s.open = all, false
	return s.event(s.id, digest(all), s.pieces)
}
