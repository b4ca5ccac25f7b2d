package sessions

import (
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// keysOnly makes a query read what deleting its items needs: their keys, and by
// what it is known whose they are.
func keysOnly(q table.Query) table.Query {
	return records.KeysOnly(q, attrOwner, attrGuest, attrTombstone)
}

// stillUnforked keeps a task's creation or deletion out of forks that are made
// meanwhile: they show the tasks as they were.
func (h *header) stillUnforked() table.Write {
	return table.Check(sessionKey(h.id()), h.unforked())
}
