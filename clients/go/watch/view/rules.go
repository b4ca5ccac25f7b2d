package view

// place is how a message that covers positions of the log stands to a state.
type place int

const (
	behind place = iota // all of it is known
	next                // it continues what is known
	ahead               // something before it is missing
)

func (s *State) place(m Message) place {
	switch {
	case m.Cursor.Epoch != s.epoch:
		if m.Cursor.Epoch < s.epoch {
			return behind
		}
		return ahead
	case m.Prev.Seq > s.seq:
		return ahead
	case m.Cursor.Seq <= s.seq:
		return behind
	}
	return next
}

// take applies a message, or finds that it tells nothing new; false means that
// it comes too early.
func (s *State) take(m Message) bool {
	if s.needsThread {
		return false
	}
	switch m.Type {
	case TypeSnapshot:
		return s.takeSnapshot(m)
	case TypeDelta:
		it := s.find(m)
		if it == nil {
			return s.ofUnknown(m)
		}
		return s.changed(it.grow(m))
	case TypeCompleted, TypeFailed:
		it := s.find(m)
		if it == nil {
			return s.ofUnknown(m)
		}
		return s.changed(it.replace(*m.Item, m.Cursor.Offset, m.Until != nil), true)
	case TypeRewound:
		return s.takeRewound(m)
	case TypeReload:
		s.takeReload(m)
		return true
	default: // thread.status, and types that a later server may know
		return s.takeStatus(m)
	}
}

// changed counts a change and passes on whether the message was taken.
func (s *State) changed(changed, taken bool) bool {
	if changed {
		s.version++
	}
	return taken
}

// find is the item that a message is about. The epoch does not matter: an item
// that is still shown after a rewind ends as it would have without it.
func (s *State) find(m Message) *item {
	if it := s.at(m.Cursor.Seq); it != nil && it.event.ID == m.ItemID {
		return it
	}
	return nil
}

// ofUnknown takes a message about an item that is not there: hidden since, or
// not heard of yet.
func (s *State) ofUnknown(m Message) bool {
	return m.Cursor.Epoch < s.epoch || m.Cursor.Epoch == s.epoch && m.Cursor.Seq <= s.seq
}

// takeSnapshot brings an item up to date in its place. Whatever stands behind
// it in the same epoch stays: positions of a log never change, and the messages
// that follow would only bring the same again.
func (s *State) takeSnapshot(m Message) bool {
	if it := s.find(m); it != nil {
		return s.changed(it.replace(*m.Item, m.Cursor.Offset, m.Until != nil), true)
	}
	switch s.place(m) {
	case behind:
		return true
	case ahead:
		return false
	case next:
		s.items = append(s.items, newItem(*m.Item, m.Cursor.Offset))
		s.seq = m.Cursor.Seq
		s.version++
	}
	return true
}

// takeStatus moves to the message's position, and takes its status unless a
// newer one is known: catching up passes positions whose messages come later.
func (s *State) takeStatus(m Message) bool {
	where := s.place(m)
	if where == ahead {
		return false
	}
	if m.Cursor.Epoch < s.epoch {
		return true
	}
	if m.Status != "" && m.Cursor.Seq >= s.statusSeq {
		s.setStatus(m)
	}
	if where == next {
		s.seq = m.Cursor.Seq
	}
	return true
}

func (s *State) setStatus(m Message) {
	runID, problem := m.RunID, m.Error
	if m.Status == Idle {
		runID = "" // the run that ended
	}
	if m.Status != Failed {
		problem = nil
	}
	if s.status != m.Status || s.runID != runID {
		s.version++
	}
	s.status, s.runID, s.problem, s.statusSeq = m.Status, runID, problem, m.Cursor.Seq
}

// takeRewound drops what a rewind hides. A rewind meets no run and leaves no
// failure, so the session is idle.
func (s *State) takeRewound(m Message) bool {
	switch {
	case m.Cursor.Epoch < s.epoch, m.Cursor.Epoch == s.epoch && m.Cursor.Seq <= s.seq:
		return true
	case m.Cursor.Epoch > s.epoch+1, m.Prev.Seq > s.seq:
		return false
	}
	for len(s.items) > 0 && s.items[len(s.items)-1].seq() > *m.ToSeq {
		s.items = s.items[:len(s.items)-1]
	}
	s.rewound = s.rewound || m.Cursor.Epoch > s.epoch
	s.epoch, s.seq = m.Cursor.Epoch, m.Cursor.Seq
	s.setStatus(Message{Status: Idle, Cursor: m.Cursor})
	s.version++
	return true
}

// takeReload asks for the thread, unless one was read that had what this is
// about.
func (s *State) takeReload(m Message) {
	switch m.Reason {
	case ReasonEpoch:
		// To stand behind the end of the log means that it is another log.
		if another := m.Cursor.Epoch == m.Prev.Epoch && m.Cursor.Before(m.Prev); !another && s.threadEpoch >= m.Cursor.Epoch {
			return
		}
	case ReasonSize:
		it := s.at(m.Cursor.Seq)
		if it == nil && s.ofUnknown(m) || it != nil && it.final() {
			return
		}
	default:
		if s.threadEpoch > m.Cursor.Epoch {
			return
		}
	}
	s.needsThread = true
}
