package sessions

import (
	"github.com/rethread/rethread/shared/store/table"
)

// parallel bounds the requests that one call has under way at once.
const parallel = 16

// prefixQuery selects the items of a partition whose sort keys begin with a prefix.
func prefixQuery(pk, prefix string, consistent bool) table.Query {
	return rangeQuery(pk, prefix, table.PrefixEnd(prefix), consistent)
}

// rangeQuery selects the items of a partition between two sort keys, both inclusive.
func rangeQuery(pk, from, to string, consistent bool) table.Query {
	return table.Query{Partition: pk, From: from, To: to, Reading: table.Reading{Consistent: consistent}}
}

// partition selects everything in a partition, strongly consistent.
func partition(pk string) table.Query {
	return table.Query{Partition: pk, Reading: table.Reading{Consistent: true}}
}

// keysOnly makes a query read only what deleting its items needs: their keys, and by
// what it is known whose they are.
func keysOnly(q table.Query) table.Query {
	q.Members = []string{table.PK, table.SK, "u", attrGuest, attrStub}
	return q
}

// stillUnforked keeps a task's creation or deletion out of forks that are made
// meanwhile: they show the tasks as they were.
func (h *header) stillUnforked() table.Write {
	return table.Check(sessionKey(h.id()), h.unforked())
}
