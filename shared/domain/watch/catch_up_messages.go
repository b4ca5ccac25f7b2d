package watch

import (
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Snapshot returns the message that brings an event to a watcher at prev. Streamed is
// set for the streamed item at the watcher's cursor. The cursor of a complete item
// includes its end, which is a step of its own even if the item has no deltas.
func (l Log) Snapshot(e session.Event, prev Cursor, streamed bool) Message {
	m := SnapshotOf(l.Epoch, e)
	m.SessionID, m.Prev = l.SessionID, prev
	switch {
	case e.Status == session.EventInProgress:
	case streamed:
		m.Cursor.Offset = e.Deltas + 1
	case e.Seq == l.Head:
		m.Cursor.Offset = max(m.Cursor.Offset, l.Offset)
	}
	return m
}

// MustSplit reports whether a snapshot is sent as several messages: an item in
// progress that does not fit into one. A complete item that does not fit becomes a reload.
func (m Message) MustSplit() bool {
	return m.Item.Status == session.EventInProgress && !m.Fits()
}

// Split returns the messages that replace a snapshot that MustSplit, given all deltas
// of the item: the remaining deltas for a watcher whose cursor c is within the item,
// the item in parts for others; c is nil for a watcher without a cursor.
func Split(m Message, deltas []content.Delta, c *Cursor) ([]Message, error) {
	if c == nil || c.Seq != m.Item.Seq || c.Offset <= 0 || c.Offset > m.Item.Deltas {
		return InParts(m, content.RoleOf(m.Item.Fields["content"]), deltas)
	}
	// The newest delta is sent even to a watcher that has it: for a watcher, an item
	// of which nothing is sent has ended.
	m.Prev.Offset = min(c.Offset, m.Item.Deltas-1)
	return InDeltas(m, deltas), nil
}

// Status returns the last message of a catch-up to a watcher at prev: the status of
// the session and its active run. Its cursor covers the whole log. For a session whose
// last run failed it carries that run, nil if unknown.
func (l Log) Status(prev Cursor, status session.Status, active string, last *run.Run) Message {
	m := Message{Type: Status, SessionID: l.SessionID, Prev: prev, Cursor: prev, Status: status, RunID: active}
	if prev.Seq < l.Head {
		m.Cursor = l.end()
	}
	if status == session.Failed && last != nil {
		m.RunID, m.Error, m.OnFailed = last.ID, last.Error, last.OnFailed
	}
	return m
}

// Reload returns the message that asks a watcher at prev to read the session.
func (l Log) Reload(prev Cursor, reason string) Message {
	return Message{Type: Reload, SessionID: l.SessionID, Prev: prev, Cursor: l.end(), Reason: reason}
}

// end returns the cursor of a watcher that has all of the log.
func (l Log) end() Cursor { return Cursor{Epoch: l.Epoch, Seq: l.Head, Offset: l.Offset} }
