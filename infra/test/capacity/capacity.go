// Package capacity adds up the capacity units of a store's operations. Unlike time,
// capacity is exact, so costs can be tested.
package capacity

import (
	"sync"
)

// Usage is consumed read and write units, and the number of requests.
type Usage struct {
	Reads    float64
	Writes   float64
	Requests int
}

// Sub returns the usage since an earlier one.
func (u Usage) Sub(earlier Usage) Usage {
	return Usage{u.Reads - earlier.Reads, u.Writes - earlier.Writes, u.Requests - earlier.Requests}
}

// Meter adds up the usage of the engines that it is around.
type Meter struct {
	mu    sync.Mutex
	total Usage
}

// Total returns the usage so far.
func (m *Meter) Total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}
