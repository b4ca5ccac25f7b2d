package capacity

import (
	"context"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// Limits of keys and writes in one batch request.
const (
	readBatch  = 100
	writeBatch = 25
)

// Around returns an engine whose calls are measured by the units that it returns.
// A batch counts as the number of requests that DynamoDB needs for it.
func (m *Meter) Around(of table.Engine) table.Engine {
	return hooks.New(of, hooks.Hooks{After: func(_ context.Context, c hooks.Call, u table.Units, err error) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.total.Reads += u.Read
		m.total.Writes += u.Write
		m.total.Requests += requests(c)
		return err
	}})
}

func requests(c hooks.Call) int {
	switch c.Op {
	case hooks.BatchGet:
		return (len(c.Keys) + readBatch - 1) / readBatch
	case hooks.BatchWrite:
		return (len(c.Writes) + writeBatch - 1) / writeBatch
	case hooks.Get, hooks.Write, hooks.Transact, hooks.Query:
	}
	return 1
}
