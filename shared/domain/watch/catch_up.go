package watch

import "github.com/rethread/rethread/shared/domain/session"

// Log is the log of a session that a watcher catches up with.
type Log struct {
	SessionID string
	Epoch     int64
	Head      int64 // seq of its newest event, 0 for none
	Offset    int64 // of the cursor of a watcher that has all of the log
	Base      int64 // the last seq that the session inherited as a fork, 0 for none
}

// Start is from where a watcher is brought up to date.
type Start struct {
	After int64 // the seq after which to read
	// Distant is the seq of an item that may have grown since the watcher saw it, too
	// far back to read everything behind it again; 0 for none.
	Distant int64
	// Streamed is the seq of a streamed item at the watcher's cursor that may have
	// grown since the watcher saw it; 0 for none.
	Streamed int64
	Reason   string // why the watcher must read the session first instead, "" if not
}

// After is the start after a seq; a watcher that is more than MaxBehind entries
// behind must read the session first.
func (l Log) After(seq int64) Start {
	out := Start{After: seq}
	if l.Head-seq > MaxBehind {
		out.Reason = ReasonBehind
	}
	return out
}

// AtItem is the start with an item, by its seq; 0 if the session does not show it.
func (l Log) AtItem(seq int64) Start {
	if seq == 0 {
		return Start{Reason: ReasonGone}
	}
	return l.After(seq - 1)
}

// SeenEntry is the entry of a log at which a watcher's cursor stands, as it is now.
type SeenEntry struct {
	InProgress bool
	Streamed   bool
	Offset     int64 // of the cursor of a watcher that has it as it is
	Open       int64 // seq of an item that was in progress when it was appended, 0 for none
}

// AtCursor is the start of a watcher with a cursor. An item that may have grown
// since is read again: the one that the cursor stands at, or one that was in progress
// before it. What a fork took over never grows. seen reads the entry with a seq; its
// errors are returned.
func (l Log) AtCursor(c Cursor, seen func(seq int64) (SeenEntry, error)) (Start, error) {
	switch {
	case c.Epoch != l.Epoch || c.Seq > l.Head:
		return Start{Reason: ReasonEpoch}, nil
	case c.Seq <= l.Base:
		return l.After(c.Seq), nil
	}
	e, err := seen(c.Seq)
	switch {
	case err != nil:
		return Start{}, err
	case e.InProgress, e.Streamed && c.Offset < e.Offset:
		start := l.After(c.Seq - 1)
		start.Streamed = c.Seq
		return start, nil
	case e.Open == 0 || e.Streamed:
		return l.After(c.Seq), nil
	case l.Head-e.Open >= MaxBehind: // all behind it would be too much, again and again
		start := l.After(c.Seq)
		start.Distant = e.Open
		return start, nil
	}
	return l.After(e.Open - 1), nil
}

// Unknown leaves out of the events since a start those that a watcher with a cursor
// has in their final form, nil for no cursor. They are sent again as long as they fit
// messages, for a watcher that did not notice the end of an item; one that does not
// fit could only be a reload, again and again.
func Unknown(epoch int64, events []session.Event, c *Cursor) []session.Event {
	if c == nil {
		return events
	}
	known, large := 0, false
	for known < len(events) && events[known].Seq < c.Seq && events[known].Status != session.EventInProgress {
		large = large || !SnapshotOf(epoch, events[known]).Fits()
		known++
	}
	if !large {
		return events
	}
	return events[known:]
}
