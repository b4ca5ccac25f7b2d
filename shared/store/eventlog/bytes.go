package eventlog

import (
	"context"
)

// countAtOnce is how many bytes of a log are counted at once.
const countAtOnce = 64 << 10

// PendingBytes records in a new entry how many bytes before it are not counted,
// and whether they are to be counted with it. An item that will still grow leaves
// the counting to later entries.
func (s *Store) PendingBytes(e *Entry, head Head, size int64) {
	if !s.owner.LimitsBytes() {
		return
	}
	e.PendingBytes = head.pendingBytes
	e.Counts = !e.Streamed && head.pendingBytes+size >= countAtOnce
}

// CountEntry counts the bytes that a stored entry is marked to count.
func (s *Store) CountEntry(ctx context.Context, l Log, r *Record) {
	if r != nil && r.Counts {
		s.owner.CountBytes(ctx, l, r.PendingBytes+r.Size())
	}
}
