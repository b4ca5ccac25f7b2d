package pageclient

// take applies a message, or drops an outdated one. It returns false if the
// message must be held.
func (s *Session) take(m message) bool {
	switch it := s.item(m); {
	case m.Type == "thread.reload":
		s.takeReload(m)
	case m.Type == "thread.queue":
		return s.takeQueued(m)
	case it != nil && !it.inProgress(): // rule 3
		return true
	case it != nil:
		return s.takeOf(it, m)
	case m.Cursor.Epoch < s.at.Epoch: // rule 5
		return true
	case m.Type == "thread.rewound":
		return s.takeRewound(m)
	case m.Cursor.Epoch > s.at.Epoch, m.Prev.Seq > s.at.Seq: // rule 7
		return false
	case m.Type == "item.snapshot":
		s.takeNew(m)
	case m.Type == "thread.status":
		s.takeStatus(m)
	default: // rule 8, about an unknown item
		return m.Cursor.Seq <= s.at.Seq
	}
	return true
}

// takeOf implements rules 3 and 4: it applies a message about an item in progress,
// of any epoch.
func (s *Session) takeOf(it *Item, m message) bool {
	switch {
	case m.Type == "item.delta": // rule 4
		if taken := it.takeDelta(m); !taken {
			return false
		}
	case m.item.inProgress() && it.Offset >= m.Offset: // rule 3
		return true
	default: // rule 3
		*it = *m.item
	}
	s.move(m.Cursor)
	return true
}

// takeDelta implements rule 4.
func (it *Item) takeDelta(m message) bool {
	switch {
	case it.Offset >= m.Offset:
		return true
	case it.Offset != m.Prev.Offset:
		return false
	}
	if err := it.grow(m.Delta); err != nil {
		return false
	}
	it.Offset = m.Offset
	return true
}

// takeNew implements rule 8.
func (s *Session) takeNew(m message) {
	if m.Cursor.Seq > s.at.Seq {
		s.Items = append(s.Items, m.item)
		s.move(m.Cursor)
	}
}

// takeStatus implements rule 8.
func (s *Session) takeStatus(m message) {
	if m.Status != "" && m.Cursor.Seq >= s.statusAt {
		s.Status, s.statusAt = m.Status, m.Cursor.Seq
	}
	s.move(m.Cursor)
}

// takeQueued implements rule 2 for a queue.
func (s *Session) takeQueued(m message) bool {
	if m.Truncated {
		s.needsThread = s.needsThread || m.Version > s.QueueVersion
		return true
	}
	return s.takeQueue(m.queue) == nil
}

// takeQueue keeps a list of a higher version.
func (s *Session) takeQueue(q queue) error {
	if q.Version <= s.QueueVersion {
		return nil
	}
	list := []map[string]any{}
	for _, raw := range q.Queued {
		one, err := object(raw)
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	s.Queued, s.QueueVersion = list, q.Version
	return nil
}

// takeRewound implements rule 6.
func (s *Session) takeRewound(m message) bool {
	switch {
	case m.Cursor.Epoch == s.at.Epoch:
		return true
	case m.Cursor.Epoch > s.at.Epoch+1 || m.Prev.Seq > s.at.Seq:
		return false
	}
	for len(s.Items) > 0 && s.Items[len(s.Items)-1].Seq > m.ToSeq {
		s.Items = s.Items[:len(s.Items)-1]
	}
	s.at, s.statusAt = m.Cursor, 0
	return true
}

// takeReload implements rule 2.
func (s *Session) takeReload(m message) {
	if m.Reason == "item_too_large" && s.has(m.Cursor) {
		return
	}
	s.needsThread = true
}

// has reports whether the item at a position is known in its final form, or known
// not to exist.
func (s *Session) has(at Cursor) bool {
	for _, it := range s.Items {
		if it.Seq == at.Seq {
			return !it.inProgress()
		}
	}
	return at.Epoch < s.at.Epoch || at.Epoch == s.at.Epoch && at.Seq <= s.at.Seq
}

// move implements rule 9.
func (s *Session) move(to Cursor) {
	if to.Epoch == s.at.Epoch && (to.Seq > s.at.Seq || to.Seq == s.at.Seq && to.Offset > s.at.Offset) {
		s.at = to
	}
}
