package sessions

import (
	"context"
	"sync"
	"time"
)

// A warm instance that has written a log's newest entry knows the log's head, and can put
// the next entry without a read. If another writer was faster, the position is taken, as
// after any lost race; a deletion takes the position too. The attempt has then cost the
// entry's write units in vain, so a head is used only if the instance seems to be the log's
// only writer (docs/adr/0063-an-instance-remembers-heads.md).

const (
	// headTime is how long a head is used after the last read of it. It bounds how long a
	// deletion competes with appends for a position, and must be well below SweepGrace:
	// until then positions that entries had are not free.
	headTime = 10 * time.Second
	// knownHeads is how many are remembered, of some 500 bytes each.
	knownHeads = 1000
	// An instance uses a head after it has written leastInRow entries directly after its own,
	// and needs inRowGrowth times as many after each head that was wrong, up to mostInRow:
	// where several instances write in turn, few attempts are in vain.
	leastInRow  = 2
	inRowGrowth = 4
	mostInRow   = 64
)

// knownHead is the head that an instance has left behind.
type knownHead struct {
	at     head
	until  time.Time
	taken  bool
	inRow  int // entries of this instance that directly followed its previous one
	needed int // before the head is used
}

// headMemory is safe for concurrent use.
type headMemory struct {
	mu    sync.Mutex
	byLog map[string]knownHead
}

// take returns the head of a log if it may be used, and then to one caller only: others
// would put their entries at the same position.
func (m *headMemory) take(log string, now time.Time) *head {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.byLog[log]
	if !ok || k.taken || k.inRow < k.needed || now.After(k.until) {
		return nil
	}
	k.taken = true
	m.byLog[log] = k
	return &k.at
}

// put remembers the head after an entry of this instance, at a position. Read is when the
// head before it was read, zero if it was remembered.
func (m *headMemory) put(log string, position int64, after head, read time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.byLog[log]
	if !ok {
		if m.byLog == nil || len(m.byLog) >= knownHeads { // all at once: the order of use is not worth its upkeep
			m.byLog = make(map[string]knownHead, knownHeads)
		}
		k = knownHead{needed: leastInRow}
	}
	if ok && k.at.next == position {
		k.inRow++
	} else {
		k.inRow = 0
	}
	if !read.IsZero() {
		k.until = read.Add(headTime)
	}
	k.at, k.taken = after.withoutEvents(), false
	m.byLog[log] = k
}

// wrong says that a remembered head was not that of the log.
func (m *headMemory) wrong(log string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.byLog[log]; ok {
		k.inRow, k.needed = 0, min(inRowGrowth*k.needed, mostInRow)
		m.byLog[log] = k
	}
}

// withoutEvents returns the head with no more of its latest entry than appends need.
func (h head) withoutEvents() head {
	if r := h.latest; r != nil {
		marks := entry{InvocationFrom: r.InvocationFrom, NextNumber: r.NextNumber}
		h.latest = &record{entry: marks, first: r.first, withoutBody: true}
	}
	return h
}

// findHead finds the head that the first attempt follows.
func (w *writer) findHead(ctx context.Context) error {
	if w.from != nil {
		return nil
	}
	w.read = w.s.now()
	if w.remembers {
		if w.from = w.s.heads.take(w.h.Log, w.read); w.from != nil {
			w.recalled, w.read = true, time.Time{}
			return nil
		}
	}
	at, err := w.s.readHead(ctx, w.h)
	w.from = &at
	return err
}
