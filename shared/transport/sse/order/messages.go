package order

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// apply passes on news whose turn it is, and drops those that tell nothing new;
// false means that they have to wait.
func (o *Order) apply(m subscription.Message) (taken bool, err error) {
	kind := watch.Type(m.Type)
	ends := kind == watch.ItemCompleted || kind == watch.ItemFailed
	switch { // an item that a rewind leaves ends as it would have without
	case ends && o.isOpen(m):
		return true, o.final(m)
	case kind == watch.DeltaType && o.isOpen(m):
		return o.grow(m)
	case m.Cursor.Epoch < o.at.Epoch:
		return true, nil
	case m.Cursor.Epoch > o.at.Epoch:
		return o.rewind(m)
	case kind == watch.Snapshot:
		return o.snapshot(m)
	case kind == watch.Status:
		return o.status(m)
	case kind == watch.DeltaType || ends:
		return m.Cursor.Seq <= o.at.Seq, nil
	}
	return true, nil
}

// snapshot passes on an item that is new. One that begins has to wait until the
// one before it has ended.
func (o *Order) snapshot(m subscription.Message) (taken bool, err error) {
	switch {
	case m.Cursor.Seq <= o.at.Seq:
		return true, nil
	case m.Prev.Seq > o.at.Seq, inProgress(m) && o.awaits(m.Cursor.Seq):
		return false, nil
	}
	return true, o.item(m)
}

// status passes on how the session stands. The end of a run has to wait until
// its item has ended.
func (o *Order) status(m subscription.Message) (taken bool, err error) {
	status, _ := m.Status.(string)
	ends := status != "" && status != string(session.InProgress)
	switch {
	case m.Prev.Seq > o.at.Seq, ends && o.awaits(m.Cursor.Seq):
		return false, nil
	case m.Cursor.Seq > o.at.Seq:
		o.at = m.Cursor
	case status == "" || m.Cursor.Seq < o.statusAt:
		return true, nil
	}
	if status != "" {
		o.statusAt = m.Cursor.Seq
	}
	return true, o.tell(m)
}

// rewind passes on that history was cut.
func (o *Order) rewind(m subscription.Message) (taken bool, err error) {
	switch {
	case watch.Type(m.Type) == watch.Reload:
		o.at, o.open = m.Cursor, nil
		if err := o.tell(m); err != nil {
			return true, err
		}
		return true, ErrReload
	case watch.Type(m.Type) != watch.Rewound || m.Cursor.Epoch > o.at.Epoch+1 || m.Prev.Seq > o.at.Seq:
		return false, nil
	}
	if o.open != nil && o.open.seq > m.ToSeq {
		o.open = nil
	}
	o.had, o.statusAt = 0, m.Cursor.Seq
	return true, o.step(m)
}
