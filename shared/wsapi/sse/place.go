package sse

import (
	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/watch"
	"github.com/rethread/rethread/shared/wsapi/subscription"
)

// maxEarly is how many messages that came before their turn are remembered.
const maxEarly = 1000

// place is how far a stream has come: where one that breaks goes on without a
// gap. It is further back than the newest message's cursor where an item before
// that one is still in progress, or a message is late.
type place struct {
	known bool
	last  watch.Cursor           // all positions up to its seq were passed on
	open  map[int64]int64        // items in progress: position → offset
	early map[int64]watch.Cursor // passed on before their turn: position → prev
}

func newPlace() *place {
	return &place{open: map[int64]int64{}, early: map[int64]watch.Cursor{}}
}

// cursor is where to go on; ok is false as long as nothing was passed on.
func (p *place) cursor() (c watch.Cursor, ok bool) {
	c = p.last
	for seq, offset := range p.open {
		if seq <= c.Seq {
			c.Seq, c.Offset = seq, offset
		}
	}
	return c, p.known
}

// pass notes a message that is passed on.
func (p *place) pass(m subscription.Message) {
	switch kind := watch.Type(m.Type); {
	case kind == watch.Deleted:
	case !p.known, kind == watch.Rewound && m.Cursor.Epoch > p.last.Epoch:
		*p = *newPlace()
		p.known, p.last = true, watch.Cursor{Epoch: m.Cursor.Epoch, Seq: m.Cursor.Seq - 1}
		p.item(m)
		p.advance(p.last, m.Cursor)
	case m.Cursor.Epoch != p.last.Epoch: // of before a rewind, or its marker is late
	case kind == watch.DeltaType:
		if offset, ok := p.open[m.Cursor.Seq]; ok && m.Prev.Offset <= offset {
			p.open[m.Cursor.Seq] = max(offset, m.Cursor.Offset)
		}
	case kind == watch.Status: // it may stand at an item in progress, which goes on
		p.advance(m.Prev, m.Cursor)
	default:
		p.item(m)
		p.advance(m.Prev, m.Cursor)
	}
}

// item notes whether the item at the message's position is in progress. One
// that is known and not open was completed before: then this is a repetition.
func (p *place) item(m subscription.Message) {
	seq := m.Cursor.Seq
	if m.Item.Status != string(session.EventInProgress) {
		delete(p.open, seq)
	} else if offset, ok := p.open[seq]; ok || seq > p.last.Seq {
		p.open[seq] = max(offset, m.Cursor.Offset)
	}
}

// advance moves on to the message's position if it is next, and over those that
// came before their turn.
func (p *place) advance(prev, at watch.Cursor) {
	if at.Seq > p.last.Seq && len(p.early) < maxEarly {
		p.early[at.Seq] = prev
	}
	for moved := true; moved; {
		moved = false
		for seq, prev := range p.early {
			if prev.Seq <= p.last.Seq {
				delete(p.early, seq)
				p.last.Seq, p.last.Offset = max(p.last.Seq, seq), 0
				moved = true
			}
		}
	}
	if at.Seq == p.last.Seq {
		p.last.Offset = max(p.last.Offset, at.Offset)
	}
}
