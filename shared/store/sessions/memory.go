package sessions

import "sync"

// memorySize is how many values an instance remembers of a kind, of some 500 bytes each.
const memorySize = 1000

// memory is what an instance remembers by a key. It may be lost or out of date, and no
// other instance needs it. It is safe for concurrent use.
type memory[V any] struct {
	mu   sync.Mutex
	kept map[string]V
}

func (m *memory[V]) get(key string) (v V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.kept[key]
	return v, ok
}

func (m *memory[V]) put(key string, v V) { m.change(key, func(V) V { return v }) }

// change replaces a value, the zero one if there is none.
func (m *memory[V]) change(key string, to func(V) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := m.kept[key]
	if !known && (m.kept == nil || len(m.kept) >= memorySize) { // all at once: the order of use is not worth its upkeep
		m.kept = make(map[string]V)
	}
	m.kept[key] = to(v)
}

func (m *memory[V]) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}
