package view

import (
	"slices"
	"time"
)

// maxHeld bounds the messages that wait. To ask again costs less than to keep
// more.
const maxHeld = 1000

// held are messages that came too early, by cursor.
type held []heldMessage

type heldMessage struct {
	Message
	due time.Time // when waiting for what is missing ends
}

// due is when the first of them has waited long enough.
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

// keep holds a message. Too many at once are dropped.
func (s *State) keep(m Message, now time.Time) {
	if len(s.held) >= maxHeld {
		s.held, s.dropped, s.askAt = nil, true, now
	}
	waiting := heldMessage{m, now.Add(s.patience())}
	i, _ := slices.BinarySearchFunc(s.held, m.Cursor, func(h heldMessage, at Cursor) int {
		if at.Before(h.Cursor) {
			return 1
		}
		return -1 // behind those of the same place, as they came
	})
	s.held = slices.Insert(s.held, i, waiting)
}

// settle takes what need not wait any more.
func (s *State) settle() {
	for took := true; took; {
		took = false
		s.held = slices.DeleteFunc(s.held, func(h heldMessage) bool {
			if !s.take(h.Message) {
				return false
			}
			took = true
			return true
		})
	}
	if len(s.held) == 0 && !s.unsure() {
		s.asked = 0
	}
}
