package eventlog

import (
	"context"
	"time"
)

// A warm instance that has written a log's newest entry knows the log's head, and can put
// the next entry without a read. If another writer was faster, the position is taken, as
// after any lost race. The attempt has then cost the entry's write units in vain, so a head
// is used only if the instance seems to be the log's only writer. Whether the session was
// deleted is read after the put (docs/adr/0065-an-append-is-confirmed-by-the-header.md).

const (
	// heldTime is how long after a read of the head the put of an entry needs no
	// confirmation: a deletion holds the position after the head, and every one that an
	// entry had, for sweep.Grace. No request lasts as long, unless its instance is frozen.
	heldTime = time.Minute
	// An instance uses a head after it has written leastInRow entries directly after its own,
	// and needs inRowGrowth times as many after each head that was wrong, up to mostInRow:
	// where several instances write in turn, few attempts are in vain.
	leastInRow  = 2
	inRowGrowth = 4
	mostInRow   = 64
)

// knownHead is the head that an instance has left behind.
type knownHead struct {
	head   Head
	taken  bool // by an append; others would put their entries at the same position
	inRow  int  // entries of this instance that directly followed its previous one
	needed int  // before the head is used; 0 if there is none
}

// Recalls reports whether the next append may follow a head that the instance remembers.
func (s *Store) Recalls(log string) bool {
	k, ok := s.headCache.Get(log)
	return ok && k.usable()
}

func (k knownHead) usable() bool { return k.needed > 0 && !k.taken && k.inRow >= k.needed }

// recall takes the head that the first attempt follows from the instance's memory, and
// reports whether there is one that may be used.
func (w *writer) recall() bool {
	w.s.headCache.Change(w.log.Name, func(k knownHead) knownHead {
		if k.usable() {
			head := k.head
			w.From, w.recalled, k.taken = &head, true, true
		}
		return k
	})
	return w.recalled
}

// remember keeps the head that the writer has left behind.
func (w *writer) remember() {
	w.s.headCache.Change(w.log.Name, func(k knownHead) knownHead {
		if w.last == nil { // everything was stored before
			k.taken = k.taken && !w.recalled
			return k
		}
		next := knownHead{head: w.head.withoutEvents(), needed: max(leastInRow, k.needed)}
		if k.head.Next == w.last.First {
			next.inRow = k.inRow + 1
		}
		return next
	})
}

// misremembered says that a remembered head was not that of the log.
func (w *writer) misremembered() {
	w.s.headCache.Change(w.log.Name, func(k knownHead) knownHead {
		k.inRow, k.needed = 0, min(inRowGrowth*max(leastInRow, k.needed), mostInRow)
		return k
	})
}

// withoutEvents returns the head with no more of its latest entry than appends need.
func (h Head) withoutEvents() Head {
	if r := h.Latest; r != nil {
		marks := Entry{InvocationFrom: r.InvocationFrom, NextNumber: r.NextNumber}
		h.Latest = &Record{Entry: marks, First: r.First, WithoutBody: true}
	}
	return h
}

// findHead finds the head that the first attempt follows.
func (w *writer) findHead(ctx context.Context) error {
	if w.From != nil || (w.Remembers && w.recall()) {
		return nil
	}
	w.read = w.s.Now()
	head, err := w.s.ReadHead(ctx, w.log)
	w.From = &head
	return err
}

// confirm checks that the session still has the log, if the writer has not read the log's
// head just before: otherwise what was appended is lost, and is not acknowledged. The log
// is then swept again, since the entry may have come after the last sweep.
func (w *writer) confirm(ctx context.Context) error {
	if !w.recalled && w.s.Now().Sub(w.read) < heldTime {
		return nil
	}
	return w.s.owner.Holds(ctx, w.log)
}
