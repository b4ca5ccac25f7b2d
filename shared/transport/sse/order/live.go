package order

import (
	"bytes"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// apply forwards a live message that is next and drops one that is already
// known; applied is false if the message has to wait.
func (o *Order) apply(m subscription.Message) (applied bool, err error) {
	kind := watch.Type(m.Type)
	ends := kind == watch.ItemCompleted || kind == watch.ItemFailed
	switch { // an item that a rewind keeps ends as without the rewind
	case kind == watch.QueueType:
		return true, o.queue(m)
	case ends && o.isOpen(m):
		return true, o.complete(m)
	case kind == watch.DeltaType && o.isOpen(m):
		return o.delta(m)
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
	case !kind.Known():
		return o.newer(m)
	}
	return true, nil
}

// newer forwards a message of a type that this version does not know: clients ignore
// it, and it moves the position as a status does.
func (o *Order) newer(m subscription.Message) (applied bool, err error) {
	m.Status = nil
	return o.status(m)
}

// snapshot forwards a new item. An item in progress waits until the one before
// it has ended.
func (o *Order) snapshot(m subscription.Message) (applied bool, err error) {
	switch {
	case m.Cursor.Seq <= o.at.Seq:
		return true, nil
	case m.Prev.Seq > o.at.Seq, inProgress(m) && o.waitsForOpen(m.Cursor.Seq):
		return false, nil
	}
	return true, o.item(m)
}

// status forwards the session's status. The end of a run waits until its item
// has ended.
func (o *Order) status(m subscription.Message) (applied bool, err error) {
	status, _ := m.Status.(string)
	ends := status != "" && status != string(session.InProgress)
	switch {
	case m.Prev.Seq > o.at.Seq, ends && o.waitsForOpen(m.Cursor.Seq):
		return false, nil
	case m.Cursor.Seq > o.at.Seq:
		o.at = m.Cursor
	case status == "" || o.hasHad(m):
		return true, nil
	}
	if status != "" {
		o.statusAt, o.knownStatus, o.liveStatus = m.Cursor.Seq, nil, m.Text
	}
	return true, o.forward(m)
}

// hasHad reports whether the reader has had a status, or a later one.
func (o *Order) hasHad(m subscription.Message) bool {
	return m.Cursor.Seq < o.statusAt || bytes.Equal(m.Text, o.liveStatus) ||
		m.Cursor.Seq == o.statusAt && o.knownStatus == m.Status
}

// rewind forwards a rewind, or a reload that replaces it.
func (o *Order) rewind(m subscription.Message) (applied bool, err error) {
	switch {
	case watch.Type(m.Type) == watch.Reload:
		o.at, o.open = m.Cursor, nil
		if err := o.forward(m); err != nil {
			return true, err
		}
		return true, ErrReload
	case watch.Type(m.Type) != watch.Rewound || m.Cursor.Epoch > o.at.Epoch+1 || m.Prev.Seq > o.at.Seq:
		return false, nil
	}
	if o.open != nil && o.open.seq > m.ToSeq {
		o.open = nil
	}
	o.had, o.statusAt, o.knownStatus = 0, m.Cursor.Seq, nil
	return true, o.advance(m)
}
