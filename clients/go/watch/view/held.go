package view

import (
	"slices"
	"time"
)

// maxHeld limits the number of held messages. Subscribing again is cheaper than
// holding more.
const maxHeld = 1000

// held holds messages that arrived before those they continue, ordered by cursor.
type held []heldMessage

type heldMessage struct {
	Message
	due time.Time // when to ask for what is missing
}

// due returns the earliest due time of the messages, false if there are none.
func (h held) due() (time.Time, bool) {
	if len(h) == 0 {
		return time.Time{}, false
	}
	return slices.MinFunc(h, func(a, b heldMessage) int { return a.due.Compare(b.due) }).due, true
}

func (h held) postpone(until time.Time) {
	for i := range h {
		h[i].due = until
	}
}

// hold holds a message. At the limit it drops all held messages and asks for them
// again at once.
func (s *State) hold(m Message, now time.Time) {
	if len(s.held) >= maxHeld {
		s.held, s.lostMessages, s.repairTime = nil, true, now
	}
	waiting := heldMessage{m, now.Add(s.repairDelay())}
	i, _ := slices.BinarySearchFunc(s.held, m.Cursor, func(h heldMessage, at Cursor) int {
		if at.Before(h.Cursor) {
			return 1
		}
		return -1 // after those with the same cursor
	})
	s.held = slices.Insert(s.held, i, waiting)
}

// applyHeld applies the held messages that have become applicable.
func (s *State) applyHeld() {
	for took := true; took; {
		took = false
		s.held = slices.DeleteFunc(s.held, func(h heldMessage) bool {
			if !s.tryApply(h.Message) {
				return false
			}
			took = true
			return true
		})
	}
	if len(s.held) == 0 && !s.mayMissData() {
		s.repairs = 0
	}
}
