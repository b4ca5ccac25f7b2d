// Package order puts what the websockets of a session bring in order, for
// readers of server-sent events: they need no rules but to apply what comes.
package order

import (
	"errors"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// How many messages that came before their turn are kept, and how many bytes of
// them: a stream has 128 MB for all that it does.
const (
	maxHeld      = 1000
	maxHeldBytes = 16 << 20
)

// Why taking messages ends.
var (
	// ErrGap says that something is missing: another source has to repair that.
	ErrGap = errors.New("something is missing")
	// ErrReload says that the reader was told to read the thread.
	ErrReload = errors.New("the reader has to read the thread")
	// ErrDeleted says that the reader was told of the session's end.
	ErrDeleted = errors.New("the session was deleted")
)

// Order passes on each message once, when all before it were. It mirrors what a
// reader holds who applies them, but for the content. It is for one goroutine at
// a time.
type Order struct {
	pass func(kind string, text []byte) error
	now  func() time.Time

	known    bool
	at       watch.Cursor // all positions up to its seq were passed on
	low      int64        // positions up to it are not of this stream
	had      int64        // position that was passed on, before a snapshot took the client back
	open     *openItem    // the item in progress
	statusAt int64        // position that the status is of

	// resumed is where the reader stands who comes back, with all before it.
	resumed *watch.Cursor
	// from is where the newest subscription begins, and hasStatus says that the
	// reader has the status that held there.
	from      *watch.Cursor
	hasStatus bool
	// caughtUp says that all was told that was there when the stream began.
	caughtUp bool

	catching bool // what a subscription is answered with has not come to its end
	parts    *parts
	held     []held
	passed   int    // messages
	last     string // type of the newest
}

// openItem is an item in progress as far as it was passed on. One that is only
// supposed is known by the cursor of a reader alone, who may have its end, too.
type openItem struct {
	seq, offset int64
	supposed    bool
	// aside is set of one that stands far behind where the stream begins: its
	// reader has it as the thread showed it, and is told its end alone.
	aside bool
}

// held is a message that came before its turn.
type held struct {
	subscription.Message
	since time.Time
}

// New is the order of a stream that begins, which passes messages on.
func New(pass func(kind string, text []byte) error, now func() time.Time) *Order {
	return &Order{pass: pass, now: now}
}

// Resume tells that the reader goes on from an id of another stream, with all
// before it, and whether they have the status that held there.
func (o *Order) Resume(at watch.Cursor, hasStatus bool) {
	o.resumed, o.from, o.hasStatus = &at, &at, hasStatus
}

// Passed is how many messages were passed on.
func (o *Order) Passed() int { return o.passed }

// CaughtUp reports whether all was told that was there when the stream began,
// and how the session stands where it is: behind a whole item, or a rewind, a
// status may follow at the same place.
func (o *Order) CaughtUp() bool {
	return o.caughtUp && o.last != string(watch.Snapshot) && o.last != string(watch.Rewound)
}

// Cursor is where to go on; ok is false as long as nothing is known.
func (o *Order) Cursor() (c watch.Cursor, ok bool) {
	c = o.at
	if o.open != nil {
		c.Seq, c.Offset = o.open.seq, o.open.offset
	}
	return c, o.known
}

// Subscribed tells that another source begins.
func (o *Order) Subscribed() {
	o.catching, o.parts = true, nil
	if at, ok := o.Cursor(); ok {
		o.from, o.hasStatus = &at, o.CaughtUp()
	}
	for i := range o.held {
		o.held[i].since = o.now()
	}
}

// Due is when something missing has had time enough to come.
func (o *Order) Due(wait time.Duration) (time.Time, bool) {
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

// Take takes a message. ErrGap says that the source is of no use any more.
func (o *Order) Take(m subscription.Message) error {
	switch {
	case watch.Type(m.Type) == watch.Deleted:
		return errors.Join(o.tell(m), ErrDeleted)
	case m.Subscription != "" && o.catching:
		return o.answer(m)
	case m.Subscription != "":
		return nil // of one that was given up
	case o.catching:
		return o.hold(m)
	}
	taken, err := o.apply(m)
	switch {
	case err != nil:
		return err
	case !taken:
		return o.hold(m)
	}
	return o.settle()
}

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

// settle passes on what need not wait any more.
func (o *Order) settle() error {
	for moved := true; moved; {
		moved = false
		for i := 0; i < len(o.held); {
			taken, err := o.apply(o.held[i].Message)
			if err != nil {
				return err
			}
			if !taken {
				i++
				continue
			}
			o.held = append(o.held[:i], o.held[i+1:]...)
			moved = true
		}
	}
	return nil
}

func (o *Order) tell(m subscription.Message) error {
	o.passed++
	o.last = m.Type
	return o.pass(m.Type, m.Text)
}

// step passes on a message that brings the client to its cursor.
func (o *Order) step(m subscription.Message) error {
	o.at = m.Cursor
	return o.tell(m)
}

// item passes on an item that comes next, or from which on everything comes
// once more.
func (o *Order) item(m subscription.Message) error {
	if o.open != nil && o.open.seq >= m.Cursor.Seq {
		o.open = nil
	}
	if inProgress(m) {
		o.open = &openItem{seq: m.Cursor.Seq, offset: m.Cursor.Offset}
	}
	return o.step(m)
}

// final passes on the final form of the item in progress.
func (o *Order) final(m subscription.Message) error {
	if m.Type == string(watch.Snapshot) {
		var err error
		if m, err = asFinal(m); err != nil {
			return err
		}
	}
	if o.open = nil; o.at.Seq == m.Cursor.Seq {
		o.at.Offset = m.Cursor.Offset
	}
	return o.tell(m)
}

// grow passes on a delta of the item in progress, if it is the next one.
func (o *Order) grow(m subscription.Message) (taken bool, err error) {
	switch {
	case m.Cursor.Offset <= o.open.offset:
		return true, nil
	case m.Prev.Offset != o.open.offset:
		return false, nil
	}
	o.open.supposed = false
	if o.open.offset = m.Cursor.Offset; o.at.Seq == o.open.seq {
		o.at.Offset = m.Cursor.Offset
	}
	if o.open.aside {
		return true, nil
	}
	return true, o.tell(m)
}

// awaits reports whether an item in progress has to end before a position.
func (o *Order) awaits(seq int64) bool {
	return o.open != nil && !o.open.supposed && o.open.seq < seq
}

func (o *Order) isOpen(m subscription.Message) bool {
	return o.open != nil && o.open.seq == m.Cursor.Seq
}

func inProgress(m subscription.Message) bool {
	return m.Item.Status == string(session.EventInProgress)
}
