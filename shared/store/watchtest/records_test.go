package watchtest_test

import (
	"sync"

	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// tableChanges are the changes of a table, in the order of its writes. TestFeed of package
// tabletest compares them with DynamoDB's stream of the same writes.
type tableChanges struct {
	mu      sync.Mutex
	changes []change
}

// change is a change of the table, and the item that it changed.
type change struct {
	records.Change
	key table.Key
}

// newTable returns an empty table and the record of its changes.
func newTable() (table.Engine, *tableChanges) {
	r := &tableChanges{}
	return memory.New(store.Schema(), memory.Feed(r.note)), r
}

func (r *tableChanges) note(before, after table.Item) {
	item := after
	if item == nil {
		item = before
	}
	c := change{
		Change: records.Change{Old: before, New: after},
		key:    table.Key{PK: table.Text(item, table.PK), SK: table.Text(item, table.SK)},
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
}

// next returns the changes since the last call.
func (r *tableChanges) next() []change {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.changes
	r.changes = nil
	return out
}
