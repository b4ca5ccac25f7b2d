package lambda

import "sync"

// DefaultConcurrency limits concurrent invocations over all functions: fewer than
// an account's 1,000, because this machine has fewer cores.
const DefaultConcurrency = 256

// slots limits concurrent invocations: those of one function if it reserves
// concurrency, otherwise those of all other functions together. Invocations over
// the limit are refused, because Lambda does not queue them.
type slots struct {
	limit int

	mu    sync.Mutex
	taken int
}

func (p *slots) acquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.limit {
		return false
	}
	p.taken++
	return true
}

func (p *slots) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
}

// newSlots divides the concurrency: a function's reserved concurrency is used by
// no other function.
func newSlots(concurrency int, functions []Definition) map[string]*slots {
	if concurrency == 0 {
		concurrency = DefaultConcurrency
	}
	shared := &slots{limit: concurrency}
	out := map[string]*slots{}
	for _, f := range functions {
		out[f.LogicalID] = shared
		if f.Reserved != nil {
			out[f.LogicalID] = &slots{limit: *f.Reserved}
			shared.limit = max(0, shared.limit-*f.Reserved)
		}
	}
	return out
}
