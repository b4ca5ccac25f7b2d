package order

import (
	"math"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// replay accepts a message that answers a subscription. These arrive in order,
// from the subscription's beginning to the session's current status.
func (o *Order) replay(m subscription.Message) error {
	if !o.known {
		o.startAt(m.Prev)
	}
	if o.parts != nil {
		whole, done, err := o.parts.add(m)
		if err != nil || !done {
			return err
		}
		o.parts = nil
		return o.replayItem(whole)
	}
	switch watch.Type(m.Type) {
	case watch.Snapshot:
		if m.Until == nil {
			return o.replayItem(m)
		}
		var err error
		o.parts, err = newParts(m)
		return err
	case watch.DeltaType:
		if !o.isOpen(m) {
			return ErrGap
		}
		if applied, err := o.delta(m); err != nil || applied {
			return err
		}
		return ErrGap
	case watch.Reload:
		o.at, o.open = m.Cursor, nil
		if err := o.forward(m); err != nil {
			return err
		}
		return ErrReload
	case watch.Status:
		return o.end(m)
	case watch.QueueType:
		return o.queue(m)
	default: // a replay has no other messages, but a newer version's may
		if kind := watch.Type(m.Type); kind.Known() {
			return nil
		}
		if applied, err := o.newer(m); err != nil || applied {
			return err
		}
		return ErrGap
	}
}

// startAt sets the position before the first message of a replay. A replay may
// repeat deltas that the reader has, so the reader's own cursor is the later one.
func (o *Order) startAt(prev watch.Cursor) {
	if b := o.begins; b != nil && b.Epoch == prev.Epoch && b.Seq == prev.Seq {
		prev.Offset = max(prev.Offset, b.Offset)
	}
	o.known, o.at, o.low = true, prev, prev.Seq
	if prev.Offset > 0 || o.resumed != nil {
		o.open = &openItem{seq: prev.Seq, offset: prev.Offset, supposed: true}
	}
}

// replayItem forwards an item of a replay. If the reader has its beginning,
// only its end is forwarded; if it has more content by now, the item is
// forwarded again with everything after it.
func (o *Order) replayItem(m subscription.Message) error {
	o.dropSupposed(m.Cursor.Seq)
	seq, isKnown := m.Cursor.Seq, o.isOpen(m) && (!o.open.supposed || o.resumed != nil)
	switch {
	case m.Cursor.Epoch != o.at.Epoch:
		return ErrGap
	case isKnown && !inProgress(m) && o.open.supposed && m.Cursor.Offset <= o.open.offset:
		o.open = nil
		return nil
	case isKnown && !inProgress(m):
		return o.complete(m)
	case isKnown && m.Cursor.Offset <= o.open.offset:
		o.open.supposed = false
		return nil
	case o.isFarBehind(m) && !inProgress(m):
		return o.complete(m)
	case o.isFarBehind(m):
		o.open = &openItem{seq: seq, offset: m.Cursor.Offset, skipped: true}
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

// dropSupposed gives up a supposed item before a position that the replay has come
// to: a replay has each item in progress, so the reader has the end of this one.
func (o *Order) dropSupposed(before int64) {
	if o.open != nil && o.open.supposed && o.open.seq < before {
		o.open = nil
	}
}

// isFarBehind reports whether an item is so far behind the reader's beginning
// that the items between are not sent again, so a snapshot must not drop them.
func (o *Order) isFarBehind(m subscription.Message) bool {
	return o.resumed == nil && m.Cursor.Seq <= o.low && o.at.Seq-m.Cursor.Seq >= watch.MaxBehind-1
}

// holds reports whether the reader has the item in its final form.
func (o *Order) holds(m subscription.Message) bool {
	seq := m.Cursor.Seq
	if seq <= o.low { // a reader that continues from one of our ids has everything before it
		return o.resumed != nil && seq <= o.resumed.Seq && !inProgress(m)
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
	o.dropSupposed(math.MaxInt64)
	o.catching, o.caughtUp, o.had = false, true, 0
	isKnown := o.hasStatus && o.from != nil && m.Cursor == *o.from
	switch {
	case m.Cursor.Seq < o.statusAt:
	case isKnown:
		o.statusAt, o.knownStatus = m.Cursor.Seq, m.Status
	default:
		o.statusAt, o.knownStatus = m.Cursor.Seq, nil
		if err := o.forward(m); err != nil {
			return err
		}
	}
	return o.applyHeld()
}

// TooLarge reports whether the message stands for an item in its final form
// that exceeds the size limit of a websocket message.
func TooLarge(m subscription.Message) bool {
	return watch.Type(m.Type) == watch.Reload && m.Reason == watch.ReasonSize
}

// Lacks reports whether the reader may lack the item of a message.
func (o *Order) Lacks(m subscription.Message) bool {
	return !o.known || o.isOpen(m) || m.Cursor.Epoch > o.at.Epoch ||
		m.Cursor.Epoch == o.at.Epoch && (m.Cursor.Seq > o.at.Seq || m.Cursor.Seq <= o.low && m.Subscription != "")
}
