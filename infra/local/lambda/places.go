package lambda

import "sync"

// DefaultConcurrency is how many invocations are at work at once here, over all
// functions: fewer than the 1,000 of an account, as this machine has fewer cores.
const DefaultConcurrency = 256

// places are how many invocations may be at work at once: those of one function
// where it reserves some, else of all others together. One more is refused, as
// Lambda keeps nobody waiting.
type places struct {
	most int

	mu    sync.Mutex
	taken int
}

func (p *places) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.most {
		return false
	}
	p.taken++
	return true
}

func (p *places) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
}

// newPlaces shares the concurrency out: what functions reserve is theirs, and
// nobody else's.
func newPlaces(concurrency int, functions []Definition) map[string]*places {
	if concurrency == 0 {
		concurrency = DefaultConcurrency
	}
	shared := &places{most: concurrency}
	out := map[string]*places{}
	for _, f := range functions {
		out[f.LogicalID] = shared
		if f.Reserved != nil {
			out[f.LogicalID] = &places{most: *f.Reserved}
			shared.most = max(0, shared.most-*f.Reserved)
		}
	}
	return out
}
