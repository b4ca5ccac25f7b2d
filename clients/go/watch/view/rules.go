package view

// relation is how the positions of the log that a message covers relate to those
// of the state.
type relation int

const (
	known relation = iota // the state includes them
	next                  // they follow directly
	ahead                 // earlier ones are missing
)

func (s *State) relate(m Message) relation {
	switch {
	case m.Cursor.Epoch != s.epoch:
		if m.Cursor.Epoch < s.epoch {
			return known
		}
		return ahead
	case m.Prev.Seq > s.seq:
		return ahead
	case m.Cursor.Seq <= s.seq:
		return known
	}
	return next
}

// tryApply applies a message, or ignores it if the state includes it already. It
// returns false if earlier messages are missing.
func (s *State) tryApply(m Message) bool {
	if s.needsThread {
		return false
	}
	switch m.Type {
	case TypeSnapshot:
		return s.applySnapshot(m)
	case TypeDelta:
		it := s.find(m)
		if it == nil {
			return s.isStale(m)
		}
		return s.changed(it.grow(m))
	case TypeCompleted, TypeFailed:
		it := s.find(m)
		if it == nil {
			return s.isStale(m)
		}
		return s.changed(it.replace(*m.Item, m.Cursor.Offset, m.Until != nil), true)
	case TypeRewound:
		return s.applyRewound(m)
	case TypeQueue:
		s.applyQueue(m)
		return true
	case TypeReload:
		s.handleReload(m)
		return true
	default: // thread.status, and types of a newer server
		return s.applyStatus(m)
	}
}

// changed increases the version if there was a change, and returns taken.
func (s *State) changed(changed, taken bool) bool {
	if changed {
		s.version++
	}
	return taken
}

// find returns the item of a message, nil if it is not shown. The epoch does not
// matter: an item that is still shown after a rewind completes as without it.
func (s *State) find(m Message) *item {
	if it := s.at(m.Cursor.Seq); it != nil && it.event.ID == m.ItemID {
		return it
	}
	return nil
}

// isStale reports, for a message about an item that is not shown, whether the item
// was hidden since; otherwise the item has not been received yet.
func (s *State) isStale(m Message) bool {
	return m.Cursor.Epoch < s.epoch || m.Cursor.Epoch == s.epoch && m.Cursor.Seq <= s.seq
}

// applySnapshot updates an item in place or adds it. Later items of the same epoch
// stay: positions of a log never change, so later messages would only repeat them.
func (s *State) applySnapshot(m Message) bool {
	if it := s.find(m); it != nil {
		return s.changed(it.replace(*m.Item, m.Cursor.Offset, m.Until != nil), true)
	}
	switch s.relate(m) {
	case known:
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

// applyStatus advances to the message's position, and sets the status unless a
// newer one is known: a catch-up can pass positions whose messages arrive later.
func (s *State) applyStatus(m Message) bool {
	where := s.relate(m)
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
		runID = "" // the message names the run that ended
	}
	if m.Status != Failed {
		problem = nil
	}
	if s.status != m.Status || s.runID != runID {
		s.version++
	}
	s.status, s.runID, s.problem, s.statusSeq = m.Status, runID, problem, m.Cursor.Seq
	s.kept = m.Status == Failed && m.OnFailed == Keep
}

// applyRewound removes the items that a rewind hides. After a rewind the session is
// idle: it requires that no run is active, and it hides a failed one.
func (s *State) applyRewound(m Message) bool {
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

// handleReload requests the thread, unless the last one read includes the reason of
// the message.
func (s *State) handleReload(m Message) {
	switch m.Reason {
	case ReasonEpoch:
		// A position after the end of the log means that the session was recreated.
		another := m.Cursor.Epoch == m.Prev.Epoch && m.Cursor.Before(m.Prev)
		if !another && s.threadEpoch >= m.Cursor.Epoch {
			return
		}
		if another { // its versions begin again
			s.queue = queue{}
		}
	case ReasonSize:
		it := s.at(m.Cursor.Seq)
		if it == nil && s.isStale(m) || it != nil && it.final() {
			return
		}
	default:
		if s.threadEpoch > m.Cursor.Epoch {
			return
		}
	}
	s.needsThread = true
}
