// Package order puts the messages that a session's websockets deliver in order,
// so that readers of server-sent events can apply each message as it arrives.
package order

import (
	"errors"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// Limits of the messages that are held because an earlier one is missing: a
// stream has 128 MB for everything.
const (
	maxHeld      = 1000
	maxHeldBytes = 16 << 20
)

// Errors of Order.Take after which this source delivers nothing more.
var (
	// ErrGap reports that a message is missing: the caller has to subscribe
	// again.
	ErrGap = errors.New("something is missing")
	// ErrReload reports that the reader has to read the thread again.
	ErrReload = errors.New("the reader has to read the thread")
	// ErrDeleted reports that the reader was sent the session's deletion.
	ErrDeleted = errors.New("the session was deleted")
)

// Order forwards each message once, after all messages before it. It tracks
// what a reader that applies the messages has, without the content. It is not
// safe for concurrent use.
type Order struct {
	send func(kind string, text []byte) error
	now  func() time.Time

	known    bool
	at       watch.Cursor // all positions up to its seq were forwarded
	low      int64        // positions up to it precede this stream
	had      int64        // position reached before a snapshot set the reader back
	open     *openItem    // the item in progress
	statusAt int64        // position of the last status
	// knownStatus is the one at statusAt that the reader has from an earlier stream;
	// liveStatus is the last live message with a status. Both may arrive again.
	knownStatus any
	liveStatus  []byte

	// begins is the cursor that the reader named, resumed that of a returning reader.
	begins, resumed *watch.Cursor
	// from is the cursor at which the newest subscription begins; hasStatus
	// reports that the reader has the status that held there.
	from      *watch.Cursor
	hasStatus bool
	// caughtUp reports that everything that existed when the stream began was
	// forwarded.
	caughtUp bool

	catching bool // the replay that answers a subscription is not complete
	parts    *parts
	held     []held
	// queueVersion is that of the queue that the reader has, 0 for none.
	queueVersion int64
	forwarded    int    // number of messages
	last         string // type of the last one
}

// openItem is an item in progress, as far as it was forwarded. A supposed item
// is known only from a reader's cursor; the reader may also have its end.
type openItem struct {
	seq, offset int64
	supposed    bool
	// skipped marks an item far behind the beginning of the stream: the reader
	// has it from the thread and is sent only its end.
	skipped bool
}

// held is a message that arrived before one that precedes it.
type held struct {
	subscription.Message
	since time.Time
}

// New returns the order of a new stream; send is called with each message in
// turn.
func New(send func(kind string, text []byte) error, now func() time.Time) *Order {
	return &Order{send: send, now: now}
}

// Begin sets the position of a reader that has the session up to a cursor.
func (o *Order) Begin(at watch.Cursor) { o.begins = &at }

// Resume sets the position of a reader that continues after an event of an
// earlier stream. The reader has everything before at; hasStatus reports
// whether it also has the status that held there.
func (o *Order) Resume(at watch.Cursor, hasStatus bool) {
	o.begins, o.resumed, o.from, o.hasStatus = &at, &at, &at, hasStatus
}

// Forwarded returns how many messages were forwarded.
func (o *Order) Forwarded() int { return o.forwarded }

// CaughtUp reports whether the reader has everything that existed when the
// stream began, and the session's status at its position: after a whole item or
// a rewind, a status may follow at the same position. A reader to whom nothing was
// forwarded has what it came with.
func (o *Order) CaughtUp() bool {
	if !o.caughtUp && o.forwarded == 0 {
		return o.resumed != nil && o.hasStatus
	}
	return o.caughtUp && o.last != string(watch.Snapshot) && o.last != string(watch.Rewound)
}

// Cursor returns the position at which to continue; ok is false until the first
// message of a subscription.
func (o *Order) Cursor() (c watch.Cursor, ok bool) {
	c = o.at
	if o.open != nil {
		c.Seq, c.Offset = o.open.seq, o.open.offset
	}
	return c, o.known
}

// Subscribed begins a new source: its replay is expected next.
func (o *Order) Subscribed() {
	o.catching, o.parts = true, nil
	if at, ok := o.Cursor(); ok {
		o.from, o.hasStatus = &at, o.CaughtUp()
	}
	for i := range o.held {
		o.held[i].since = o.now()
	}
}

// Due returns when a missing message counts as lost: wait after the oldest held
// message arrived. ok is false if no message is held or a replay is under way.
func (o *Order) Due(wait time.Duration) (at time.Time, ok bool) {
	if o.catching || len(o.held) == 0 {
		return time.Time{}, false
	}
	first := o.held[0].since
	for _, h := range o.held {
		if h.since.Before(first) {
			first = h.since
		}
	}
	return first.Add(wait), true
}

// Take accepts the next message of the source: it forwards, holds or drops it.
// ErrGap reports that the source cannot be used any longer.
func (o *Order) Take(m subscription.Message) error {
	switch {
	case watch.Type(m.Type) == watch.Deleted:
		return errors.Join(o.forward(m), ErrDeleted)
	case watch.Type(m.Type) == watch.QueueType && o.known:
		return o.queue(m)
	case m.Subscription != "" && o.catching:
		return o.replay(m)
	case m.Subscription != "":
		return nil // of an abandoned subscription
	case o.catching:
		return o.hold(m)
	}
	applied, err := o.apply(m)
	switch {
	case err != nil:
		return err
	case !applied:
		return o.hold(m)
	}
	return o.applyHeld()
}

// hold keeps a message until the ones before it have arrived.
func (o *Order) hold(m subscription.Message) error {
	size := len(m.Text)
	for _, h := range o.held {
		size += len(h.Text)
	}
	if len(o.held) == maxHeld || size > maxHeldBytes {
		o.held = nil
		return ErrGap
	}
	o.held = append(o.held, held{m, o.now()})
	return nil
}

// applyHeld forwards the held messages that need not wait any longer.
func (o *Order) applyHeld() error {
	for moved := true; moved; {
		moved = false
		for i := 0; i < len(o.held); {
			applied, err := o.apply(o.held[i].Message)
			if err != nil {
				return err
			}
			if !applied {
				i++
				continue
			}
			o.held = append(o.held[:i], o.held[i+1:]...)
			moved = true
		}
	}
	return nil
}

// forward sends a message without moving the position.
func (o *Order) forward(m subscription.Message) error {
	if err := o.send(m.Type, m.Text); err != nil {
		o.caughtUp = false
		return err
	}
	o.forwarded++
	o.last = m.Type
	return nil
}

// queue forwards the session's queue, unless the reader has it or a newer one. It
// applies at any position, and says nothing about the reader's.
func (o *Order) queue(m subscription.Message) error {
	if m.QueueVersion <= o.queueVersion {
		return nil
	}
	o.queueVersion = m.QueueVersion
	return o.send(m.Type, m.Text)
}

// advance forwards a message that moves the reader to its cursor.
func (o *Order) advance(m subscription.Message) error {
	o.at = m.Cursor
	return o.forward(m)
}

// item forwards the next item, or one after which all items are sent again.
func (o *Order) item(m subscription.Message) error {
	if o.open != nil && o.open.seq >= m.Cursor.Seq {
		o.open = nil
	}
	if inProgress(m) {
		o.open = &openItem{seq: m.Cursor.Seq, offset: m.Cursor.Offset}
	}
	return o.advance(m)
}

// complete forwards the final form of the item in progress.
func (o *Order) complete(m subscription.Message) error {
	if m.Type == string(watch.Snapshot) {
		var err error
		if m, err = asFinal(m); err != nil {
			return err
		}
	}
	if o.open = nil; o.at.Seq == m.Cursor.Seq {
		o.at.Offset = m.Cursor.Offset
	}
	return o.forward(m)
}

// delta forwards a delta of the item in progress if it is the next one.
func (o *Order) delta(m subscription.Message) (applied bool, err error) {
	if o.catching { // it is replayed, so it is in progress
		o.open.supposed = false
	}
	switch {
	case m.Cursor.Offset <= o.open.offset:
		return true, nil
	case m.Prev.Offset != o.open.offset:
		return false, nil
	}
	if o.open.offset = m.Cursor.Offset; o.at.Seq == o.open.seq {
		o.at.Offset = m.Cursor.Offset
	}
	if o.open.skipped {
		return true, nil
	}
	return true, o.forward(m)
}

// waitsForOpen reports whether the item in progress has to end before a message
// at seq is forwarded.
func (o *Order) waitsForOpen(seq int64) bool {
	return o.open != nil && !o.open.supposed && o.open.seq < seq
}

func (o *Order) isOpen(m subscription.Message) bool {
	return o.open != nil && o.open.seq == m.Cursor.Seq
}

func inProgress(m subscription.Message) bool {
	return m.Item.Status == string(session.EventInProgress)
}
