package order

import (
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// answer takes what a subscription is answered with: it comes in order, from
// where the subscription begins to how the session stands.
func (o *Order) answer(m subscription.Message) error {
	if !o.known {
		o.known, o.at, o.low = true, m.Prev, m.Prev.Seq
		if m.Prev.Offset > 0 {
			o.open = &openItem{seq: m.Prev.Seq, offset: m.Prev.Offset, supposed: true}
		}
	}
	if o.parts != nil {
		whole, done, err := o.parts.add(m)
		if err != nil || !done {
			return err
		}
		o.parts = nil
		return o.bring(whole)
	}
	switch watch.Type(m.Type) {
	case watch.Snapshot:
		if m.Until == nil {
			return o.bring(m)
		}
		var err error
		o.parts, err = newParts(m)
		return err
	case watch.DeltaType:
		if !o.isOpen(m) {
			return ErrGap
		}
		if taken, err := o.grow(m); err != nil || taken {
			return err
		}
		return ErrGap
	case watch.Reload:
		o.at, o.open = m.Cursor, nil
		if err := o.tell(m); err != nil {
			return err
		}
		return ErrReload
	case watch.Status:
		return o.end(m)
	default: // nothing else answers a subscription
	}
	return nil
}

// bring passes on an item that a subscription is answered with. One that the
// client holds ends in its place; where it has more content by now, it comes
// again with everything behind it.
func (o *Order) bring(m subscription.Message) error {
	seq, there := m.Cursor.Seq, o.isOpen(m) && (!o.open.supposed || o.resumed != nil)
	switch {
	case m.Cursor.Epoch != o.at.Epoch:
		return ErrGap
	case there && !inProgress(m):
		return o.final(m)
	case there && m.Cursor.Offset <= o.open.offset:
		o.open.supposed = false
		return nil
	case o.standsAside(m) && !inProgress(m):
		return o.final(m)
	case o.standsAside(m):
		o.open = &openItem{seq: seq, offset: m.Cursor.Offset, aside: true}
		return nil
	case o.holds(m):
		return nil
	case seq > o.at.Seq && m.Prev.Seq > o.at.Seq:
		return ErrGap
	}
	if seq <= o.low {
		o.low = seq - 1
	}
	if seq < o.at.Seq {
		o.had = max(o.had, o.at.Seq)
	}
	return o.item(m)
}

// standsAside reports whether an item is so far behind where the reader began that
// what stands between is not told again, as dropping all of it would need.
func (o *Order) standsAside(m subscription.Message) bool {
	return o.resumed == nil && m.Cursor.Seq <= o.low && o.at.Seq-m.Cursor.Seq >= watch.MaxBehind-1
}

// holds reports whether the client has the item, in its final form.
func (o *Order) holds(m subscription.Message) bool {
	seq := m.Cursor.Seq
	if seq <= o.low { // who goes on from an id of ours has what is before it
		return o.resumed != nil && seq < o.resumed.Seq && !inProgress(m)
	}
	return seq <= o.at.Seq && !o.isOpen(m)
}

// end takes the last message of an answer.
func (o *Order) end(m subscription.Message) error {
	if m.Cursor.Epoch != o.at.Epoch || m.Prev.Seq > max(o.at.Seq, o.low) {
		return ErrGap
	}
	if o.at.Seq < m.Cursor.Seq {
		o.at = m.Cursor
	}
	if o.at.Seq < o.had {
		return ErrGap
	}
	o.catching, o.caughtUp, o.had = false, true, 0
	there := o.hasStatus && o.from != nil && m.Cursor == *o.from
	if m.Cursor.Seq >= o.statusAt && !there {
		o.statusAt = m.Cursor.Seq
		if err := o.tell(m); err != nil {
			return err
		}
	}
	return o.settle()
}

// TooLarge reports whether the message stands for an item in its final form that
// no message of a websocket can hold.
func TooLarge(m subscription.Message) bool {
	return watch.Type(m.Type) == watch.Reload && m.Reason == watch.ReasonSize
}

// Lacks reports whether the reader may lack the item that a message is about.
func (o *Order) Lacks(m subscription.Message) bool {
	return !o.known || o.isOpen(m) || m.Cursor.Epoch > o.at.Epoch ||
		m.Cursor.Epoch == o.at.Epoch && (m.Cursor.Seq > o.at.Seq || m.Cursor.Seq <= o.low && m.Subscription != "")
}
