package stream

import (
	"sync"

	"github.com/rethread/rethread/infra/local/stream/reader"
)

// entry is a record on its way through a mapping.
type entry struct {
	*reader.Record
	done bool
}

// progress knows which records of a shard are done with. Lanes finish out of
// order, so the place to go on from is before the oldest that is not.
type progress struct {
	save func(sequence string)

	mu      sync.Mutex
	pending []*entry // oldest first
}

func (p *progress) add(record *reader.Record) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &entry{Record: record}
	p.pending = append(p.pending, e)
	return e
}

// finish marks entries as done with: delivered, given up or not wanted.
func (p *progress) finish(entries ...*entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		e.done = true
	}
	n := 0
	for n < len(p.pending) && p.pending[n].done {
		n++
	}
	if n == 0 {
		return
	}
	p.save(p.pending[n-1].Sequence)
	clear(p.pending[:n]) // the memory of records is given back
	p.pending = p.pending[n:]
}
