package sessions

import (
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// KeysOnly makes a query read what is needed to delete its items: their keys, and
// the attributes that name their owners.
func KeysOnly(q table.Query) table.Query {
	return records.KeysOnly(q, keys.AttrOwner, keys.AttrGuest, keys.AttrTombstone)
}

// StillUnforked keeps a task's creation or deletion out of forks that are made
// concurrently: they show the tasks as they were.
func (h *Header) StillUnforked() table.Write {
	return table.Check(keys.SessionKey(h.ID()), h.Unforked())
}
