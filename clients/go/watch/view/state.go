// Package view is what a client knows of one session that it watches, and how
// messages change it. It opens no connections: package watch does, and gives the
// messages that it gets to a State.
//
// State knows no clock either. It takes messages in any order,
// any number of times, and ends at what GET thread shows once each has come at
// least once; where one is missing it says so, and from where to ask again.
package view

import (
	"maps"
	"slices"
	"time"
)

// Hold is how long a message that came too early waits for those before it.
const Hold = time.Second

// maxBehind is how many positions of the log a watcher may lack and still be sent
// what is there.
const maxBehind = 100

// mostDoublings bounds how that grows while asking does not help: 32 s.
const mostDoublings = 5

// State is one session as its messages tell it. A new one knows nothing and
// asks for the thread. It is for one goroutine at a time.
type State struct {
	epoch, seq int64 // all of the log up to seq is known, as of this epoch
	items      []*item

	status    Status
	runID     string
	problem   *Problem
	statusSeq int64 // position up to which the status is known

	threadEpoch int64 // of the thread that was taken last
	rewound     bool  // since then
	needsThread bool
	deleted     bool
	version     int64 // counts what changed

	held    held
	dropped bool      // messages that might have been needed, since it was asked
	askAt   time.Time // when to ask for what is missing although nothing is held
	asked   int       // times in a row that asking did not help
}

// NewState is a state that needs a thread.
func NewState() *State { return &State{needsThread: true} }

// Thread is a session's thread, all pages of it; Cursor is the last page's.
type Thread struct {
	Items  []Event
	Cursor Cursor
	Status Status
	RunID  string   // of the run in progress, or that failed
	Error  *Problem // of the one that failed
	// Offsets says of the items in progress, by their ids, how many deltas their
	// content holds.
	Offsets map[string]int64
}

// offset is the one of the cursor of who has the item as the thread shows it.
func (t *Thread) offset(e Event) int64 {
	if offset, ok := t.Offsets[e.ID]; ok {
		return offset
	}
	if e.Seq == t.Cursor.Seq {
		return t.Cursor.Offset
	}
	return unknown
}

// Behind is the thread with the pages before this one.
func (t Thread) Behind(before Thread) Thread {
	t.Items = append(before.Items, t.Items...)
	offsets := maps.Clone(before.Offsets)
	if offsets == nil {
		offsets = map[string]int64{}
	}
	maps.Copy(offsets, t.Offsets)
	t.Offsets = offsets
	return t
}

// Apply takes a message and reports whether it changed what the session shows.
// One that continues nothing yet is held.
func (s *State) Apply(m Message, now time.Time) bool {
	before := s.version
	switch {
	case s.deleted:
	case m.Type == TypeDeleted:
		s.deleted, s.held = true, nil
		s.version++
	case !s.take(m):
		s.keep(m, now)
	default:
		s.settle()
	}
	return s.version != before
}

// Replace takes a thread that was read after NeedsThread reported true.
func (s *State) Replace(t Thread, now time.Time) {
	s.epoch, s.seq = t.Cursor.Epoch, t.Cursor.Seq
	if n := len(t.Items); n > 0 { // the cursor may be that of an item in progress before the last
		s.seq = max(s.seq, t.Items[n-1].Seq)
	}
	s.items = make([]*item, len(t.Items))
	for i, e := range t.Items {
		s.items[i] = newItem(e, t.offset(e))
	}
	s.status, s.runID, s.problem, s.statusSeq = t.Status, t.RunID, t.Error, s.seq
	s.threadEpoch, s.rewound, s.needsThread = s.epoch, false, false
	if s.askAt = now; s.asked > 0 {
		s.askAt = now.Add(s.patience())
	}
	s.version++
	s.settle()
}

// Lost tells that a connection has ended that may have had more to say.
func (s *State) Lost() {
	// A rewind that brings items back says so right after the rewind itself.
	// Nobody repeats that to whoever stands behind the rewind.
	s.needsThread = s.needsThread || s.rewound || slices.ContainsFunc(s.items, s.far)
}

// far reports whether an item that may have grown stands so far behind that
// nobody is told all from there.
func (s *State) far(it *item) bool { return !it.final() && s.seq-it.seq() >= maxBehind }

// NeedsThread reports whether only a thread helps. Until it is there messages
// are held.
func (s *State) NeedsThread() bool { return s.needsThread && !s.deleted }

// Version counts what has changed in what the session shows.
func (s *State) Version() int64 { return s.version }

// Deleted reports whether the session is gone; then nothing follows.
func (s *State) Deleted() bool { return s.deleted }

// Cursor is where to watch from: before whatever may have changed unnoticed. An
// item that is far behind comes with what is told from there.
func (s *State) Cursor() Cursor {
	for _, it := range s.items {
		switch {
		case it.final(), s.far(it):
		case it.offset > 0:
			return Cursor{Epoch: s.epoch, Seq: it.seq(), Offset: it.offset}
		default: // asked from here, one completed without deltas would be left out
			return Cursor{Epoch: s.epoch, Seq: it.seq() - 1}
		}
	}
	at := Cursor{Epoch: s.epoch, Seq: s.seq}
	if last := s.at(s.seq); last != nil {
		at.Offset = max(0, last.offset)
	}
	return at
}

// RepairAt is when to watch anew from Cursor because something is missing;
// false while nothing is.
func (s *State) RepairAt() (time.Time, bool) {
	if s.NeedsThread() || s.deleted {
		return time.Time{}, false
	}
	at, waiting := s.held.due()
	if s.unsure() && (!waiting || s.askAt.Before(at)) {
		at, waiting = s.askAt, true
	}
	return at, waiting
}

// Repairing tells that watching anew was asked for: what is missing has some
// time to come, and more each time that it does not.
func (s *State) Repairing(now time.Time) {
	s.askAt = now.Add(s.patience())
	if len(s.held) > 0 || s.unsure() {
		s.asked++
	}
	s.dropped = false
	s.held.postpone(s.askAt)
}

// Missed tells that a message came that could not be read.
func (s *State) Missed(now time.Time) {
	s.dropped, s.askAt = true, now.Add(s.patience())
}

// patience is how long something missing may take to come.
func (s *State) patience() time.Duration { return Hold << min(s.asked, mostDoublings) }

// unsure reports whether something may be missing that no message shows: the
// number of an item's deltas, or messages that were dropped.
func (s *State) unsure() bool {
	return s.dropped || slices.ContainsFunc(s.items, func(it *item) bool { return !it.final() && it.offset == unknown })
}

// at finds the item at a position, nil where none is shown there.
func (s *State) at(seq int64) *item {
	i, found := slices.BinarySearchFunc(s.items, seq, func(it *item, seq int64) int { return int(it.seq() - seq) })
	if !found {
		return nil
	}
	return s.items[i]
}
