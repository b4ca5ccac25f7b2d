// Package view holds a client's copy of one watched session and the rules by which
// messages change it. It opens no connections: package watch does, and passes the
// messages to a State.
//
// State has no clock either. It accepts messages in any order, duplicates included,
// and equals GET /sessions/{id}/thread once each message has arrived at least once.
// If one is missing it reports so, with the cursor to subscribe from again.
package view

import (
	"maps"
	"slices"
	"time"
)

// Hold is how long a message that arrived early waits for those before it, until
// RepairAt asks for them. The time doubles, up to 32 seconds, with each repair that
// does not help.
const Hold = time.Second

// maxBehind is the number of positions of the log up to which the server sends a
// watcher what it has missed; beyond that it asks it to reload.
const maxBehind = 100

// maxDoublings limits how often Hold doubles: to 32 s.
const maxDoublings = 5

// State is a session built from a thread and messages. A new State is empty and
// needs the thread. It is not safe for concurrent use.
//
// To follow a session: while NeedsThread reports true, read the thread and call
// Replace; pass each message to Apply; when the time of RepairAt has come, call
// Repairing and subscribe again from Cursor; call Lost when a connection ends.
type State struct {
	epoch, seq int64 // the log is known up to seq, as of this epoch
	items      []*item

	status    Status
	runID     string
	problem   *Problem
	kept      bool
	statusSeq int64 // position up to which the status is known
	queue     queue

	threadEpoch int64 // of the last thread
	rewound     bool  // since the last thread
	needsThread bool
	deleted     bool
	version     int64 // number of changes

	held         held
	lostMessages bool      // since the last repair
	repairTime   time.Time // when to subscribe again if no message is held
	repairs      int       // in a row that did not help
}

// NewState returns an empty state, which needs a thread.
func NewState() *State { return &State{needsThread: true} }

// Thread is a session's thread: one page, or several joined by Behind. Cursor is
// that of the last page.
type Thread struct {
	Items  []Event
	Cursor Cursor
	Status Status
	RunID  string   // of the run in progress or the failed run
	Error  *Problem // of the failed run
	Kept   bool     // whether the next input leaves the failed run in the session
	// Queued holds the queued inputs as of QueueVersion, which is 0 in a session that
	// never had any.
	Queued       []Queued
	QueueVersion int64
	// Offsets holds, by the id of an item in progress, the number of deltas in
	// its content.
	Offsets map[string]int64
}

// offset returns the cursor offset of an item as it is in the thread.
func (t *Thread) offset(e Event) int64 {
	if offset, ok := t.Offsets[e.ID]; ok {
		return offset
	}
	if e.Seq == t.Cursor.Seq {
		return t.Cursor.Offset
	}
	return unknown
}

// Behind returns the thread with the earlier pages in before put in front. Its queued
// inputs are those of the newest version.
func (t Thread) Behind(before Thread) Thread {
	t.Items = append(before.Items, t.Items...)
	offsets := maps.Clone(before.Offsets)
	if offsets == nil {
		offsets = map[string]int64{}
	}
	maps.Copy(offsets, t.Offsets)
	t.Offsets = offsets
	if before.QueueVersion > t.QueueVersion {
		t.Queued, t.QueueVersion = before.Queued, before.QueueVersion
	}
	return t
}

// Apply applies a message and reports whether the session changed. A message that
// does not continue the state yet is held, at most 1,000 of them.
func (s *State) Apply(m Message, now time.Time) bool {
	before := s.version
	switch {
	case s.deleted:
	case m.Type == TypeDeleted:
		s.deleted, s.held, s.queue = true, nil, queue{}
		s.version++
	case !s.tryApply(m):
		s.hold(m, now)
	default:
		s.applyHeld()
	}
	return s.version != before
}

// Replace replaces the session by a thread, which must have been read after
// NeedsThread reported true. Held messages are then applied.
func (s *State) Replace(t Thread, now time.Time) {
	s.epoch, s.seq = t.Cursor.Epoch, t.Cursor.Seq
	if n := len(t.Items); n > 0 { // the cursor may be of an item in progress before the last
		s.seq = max(s.seq, t.Items[n-1].Seq)
	}
	s.items = make([]*item, len(t.Items))
	for i, e := range t.Items {
		s.items[i] = newItem(e, t.offset(e))
	}
	s.status, s.runID, s.problem, s.kept, s.statusSeq = t.Status, t.RunID, t.Error, t.Kept, s.seq
	s.queue.take(t.QueueVersion, t.Queued)
	s.threadEpoch, s.rewound, s.needsThread = s.epoch, false, false
	if s.repairTime = now; s.repairs > 0 {
		s.repairTime = now.Add(s.repairDelay())
	}
	s.version++
	s.applyHeld()
}

// Lost reports that a connection ended, on which messages may have been lost.
func (s *State) Lost() {
	// A rewind that restores items is followed by a message for them, which is
	// not repeated to a watcher whose cursor is after the rewind.
	s.needsThread = s.needsThread || s.rewound || slices.ContainsFunc(s.items, s.tooFarBehind)
}

// tooFarBehind reports whether an unfinished item is so far behind that the server
// does not send all messages from there.
func (s *State) tooFarBehind(it *item) bool { return !it.final() && s.seq-it.seq() >= maxBehind }

// NeedsThread reports whether the thread must be read and passed to Replace. Until
// then messages are held.
func (s *State) NeedsThread() bool { return s.needsThread && !s.deleted }

// Version returns a number that increases with each change of the session.
func (s *State) Version() int64 { return s.version }

// Deleted reports whether the session was deleted; no further messages apply.
func (s *State) Deleted() bool { return s.deleted }

// Cursor returns the position to subscribe from. Everything after it may have
// changed unnoticed. An item too far behind is not waited for: the messages after
// this position include it.
func (s *State) Cursor() Cursor {
	for _, it := range s.items {
		switch {
		case it.final(), s.tooFarBehind(it):
		case it.offset > 0:
			return Cursor{Epoch: s.epoch, Seq: it.seq(), Offset: it.offset}
		default: // from its own position, one completed without deltas would be skipped
			return Cursor{Epoch: s.epoch, Seq: it.seq() - 1}
		}
	}
	at := Cursor{Epoch: s.epoch, Seq: s.seq}
	if last := s.at(s.seq); last != nil {
		at.Offset = max(0, last.offset)
	}
	return at
}

// RepairAt returns when to subscribe again from Cursor because something is
// missing; false if nothing is.
func (s *State) RepairAt() (time.Time, bool) {
	if s.NeedsThread() || s.deleted {
		return time.Time{}, false
	}
	at, waiting := s.held.due()
	if s.mayMissData() && (!waiting || s.repairTime.Before(at)) {
		at, waiting = s.repairTime, true
	}
	return at, waiting
}

// Repairing reports that the caller has subscribed again. The next RepairAt is
// later, and the delay doubles each time that something is still missing.
func (s *State) Repairing(now time.Time) {
	s.repairTime = now.Add(s.repairDelay())
	if len(s.held) > 0 || s.mayMissData() {
		s.repairs++
	}
	s.lostMessages = false
	s.held.postpone(s.repairTime)
}

// Missed reports that a message arrived that could not be parsed.
func (s *State) Missed(now time.Time) {
	s.lostMessages, s.repairTime = true, now.Add(s.repairDelay())
}

// repairDelay returns how long to wait for missing messages.
func (s *State) repairDelay() time.Duration { return Hold << min(s.repairs, maxDoublings) }

// mayMissData reports whether data may be missing without a held message to show
// it: the offset of an item is unknown, or messages were dropped.
func (s *State) mayMissData() bool {
	return s.lostMessages || slices.ContainsFunc(s.items, func(it *item) bool { return !it.final() && it.offset == unknown })
}

// at returns the item at a position, nil if none is shown there.
func (s *State) at(seq int64) *item {
	i, found := slices.BinarySearchFunc(s.items, seq, func(it *item, seq int64) int { return int(it.seq() - seq) })
	if !found {
		return nil
	}
	return s.items[i]
}
