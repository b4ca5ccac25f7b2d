package records

import "sync"

// memorySize is how many values an instance remembers of a kind, of some 500 bytes each.
const memorySize = 1000

// Memory is what an instance remembers by a key. It may be lost or out of date, and no
// other instance needs it. It is safe for concurrent use.
type Memory[V any] struct {
	mu   sync.Mutex
	kept map[string]V
}

// Get returns the value of a key; ok is false if there is none.
func (m *Memory[V]) Get(key string) (v V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.kept[key]
	return v, ok
}

// Put sets a value.
func (m *Memory[V]) Put(key string, v V) { m.Change(key, func(V) V { return v }) }

// Change replaces a value, the zero one if there is none.
func (m *Memory[V]) Change(key string, to func(V) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := m.kept[key]
	if !known && (m.kept == nil || len(m.kept) >= memorySize) { // all at once: the order of use is not worth its upkeep
		m.kept = make(map[string]V)
	}
	m.kept[key] = to(v)
}

// Forget removes a value.
func (m *Memory[V]) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}
