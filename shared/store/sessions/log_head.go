package sessions

import "context"

// head is the position of the next entry of a log, and what that entry must know of
// those before it.
type head struct {
	next         int64 // position
	lastState    int64
	lastMarker   int64
	invocation   string  // of the latest event
	latest       *record // the latest entry, nil for none
	time         int64   // of the latest entry
	epoch        int64
	offset       int64 // of a watcher's cursor after the latest entry, if that is complete
	open         int64 // position of an item that may be in progress
	pendingBytes int64 // bytes of the log that are not counted yet
}

func (h head) last() int64 { return h.next - 1 }

// olderThan reports whether session state as of a position has changed before the
// head. A fork's state begins as of what it took over.
func (h head) olderThan(of *header, asOf int64) bool { return asOf > max(h.lastState, of.base()) }

// after returns the head after a record has been appended.
func (h head) after(r *record) head {
	next := head{next: r.last() + 1, lastState: r.LastState, lastMarker: r.LastMarker, time: r.time}
	next.epoch, next.offset, next.open = r.Epoch, r.offset(), r.Open
	if !r.Counts {
		next.pendingBytes = r.PendingBytes + r.size()
	}
	switch {
	case r.inProgress():
		next.open = r.first
	case r.Ended != "":
		next.open = 0
	}
	if n := len(r.events); n > 0 {
		next.invocation = r.events[n-1].InvocationID
	}
	if !r.blank() {
		next.latest = r
	}
	return next
}

// marks returns what the next entry of the log says about earlier ones.
func (h head) marks() runMarks {
	return runMarks{Epoch: h.epoch, Open: h.open, PrevDeltas: h.offset}
}

// readHead reads the latest entry of a session's log.
func (s *Store) readHead(ctx context.Context, h *header) (head, error) {
	r, err := s.entryAt(ctx, h.Log, 0)
	if err != nil || r == nil {
		return head{next: h.base() + 1}, err
	}
	if r.unlinked {
		return head{}, r.unreadable
	}
	return head{}.after(r), nil // its events may be unreadable
}
