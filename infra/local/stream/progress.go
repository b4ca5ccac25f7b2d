package stream

import (
	"sync"

	"github.com/rethread/rethread/infra/local/stream/reader"
)

// entry is a record in a mapping.
type entry struct {
	*reader.Record
	done bool
}

// progress tracks the finished records of a shard. Lanes finish out of order, so
// the position to save is before the oldest unfinished record.
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

// finish marks entries as finished: delivered, abandoned or filtered out.
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
	clear(p.pending[:n]) // releases the records' memory
	p.pending = p.pending[n:]
}
