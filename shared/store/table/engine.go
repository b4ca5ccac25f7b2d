// Package table is the storage contract: what the store asks of a key-value table
// with sorted partitions, conditional writes and transactions. DynamoDB is one
// engine (package dynamo), memory another (package memory); package tabletest is
// the suite that every engine passes, and package faults makes any of them fail.
//
// Conditions and changes are values. An engine turns them into requests; nobody
// else writes expressions.
package table

import "context"

// Engine is a table. It is safe for concurrent use.
//
// Each method sends what it is asked once, or until it is complete where that is
// safe: unconditional batches repeat what the table left over, and transactions
// repeat under their token. A conditional write is never repeated blindly; its
// caller hears ErrUndecided where the answer was lost, and looks.
//
// Errors wrap exactly one of the errors of this package, or the context's: a read
// that its context cuts is the context's, a write that was sent is ErrUndecided.
// Units are returned with errors, too, as far as they are known. A request that is
// invalid whatever it meets is refused before it is sent, and costs nothing.
type Engine interface {
	// Get reads one item; a nil Item says that there is none.
	Get(ctx context.Context, k Key, r Reading) (Item, Units, error)

	// Write carries out one write. A condition that does not hold is a
	// *ConditionError, which has what was found instead.
	Write(ctx context.Context, w Write) (Units, error)

	// Transact carries out up to MaxTransaction writes, all or none, each of
	// another item. Conditions that do not hold are a *ConditionError, unless
	// another of the writes is invalid or too large for what it meets. Another
	// transaction or write under way on one of the items is ErrConflict. Within
	// ten minutes, a repeat with the same token and writes changes nothing and
	// succeeds; a repeat with the same token and other writes is ErrInvalid.
	Transact(ctx context.Context, t Transaction) (Units, error)

	// Query reads a page of one partition, of the table or an index, in the order
	// of the sort key. A page ends with the item by which it exceeds MaxPageBytes.
	Query(ctx context.Context, q Query) (Page, error)

	// BatchGet reads any number of items, in no order and each once; those that
	// are not there are left out.
	BatchGet(ctx context.Context, keys []Key, r Reading) ([]Item, Units, error)

	// BatchWrite carries out any number of puts and deletes without conditions, in
	// no order and not as one. It may be repeated after an error.
	BatchWrite(ctx context.Context, writes []Write) (Units, error)
}

// Limits of every engine, which are DynamoDB's.
const (
	MaxItemBytes        = 400 << 10
	MaxTransaction      = 100
	MaxTransactionBytes = 4 << 20
	MaxPageBytes        = 1 << 20
	MaxPartitionKey     = 2048 // bytes
	MaxSortKey          = 1024 // bytes
)

// Reading says how to read. The zero value reads all members, eventually
// consistent: it may miss the newest writes, and costs half.
type Reading struct {
	Consistent bool
	// Members to read; nil reads all. It saves bytes on the wire, not units.
	Members []string
}

// Transaction is a number of writes that happen all or not at all.
type Transaction struct {
	// Token identifies the transaction; an engine makes one up where it is empty.
	Token  string
	Writes []Write
}

// Query asks for a page of a partition.
type Query struct {
	Index     Index // the table itself, if empty
	Partition string
	// From and To bound the sort keys, both inclusive; "" is no bound.
	From, To string
	// Descending reads from To down to From.
	Descending bool
	// Limit is how many items are read at most; 0 leaves it to MaxPageBytes.
	Limit int
	// After goes on behind a page, by its Next.
	After Position
	Reading
}

// Page is a part of what a query finds.
type Page struct {
	Items []Item
	// Next is set where there may be more.
	Next  Position
	Units Units
}

// Position is the place of an item in the table or an index; nil is none. It holds
// the item's keys and may be stored.
type Position Item

// Index names a secondary index; "" is the table.
type Index string

// Schema is what an engine knows of a table besides its data. Keys of the table
// are PK and SK, both strings; those of an index are members of its items.
type Schema struct {
	Indexes []IndexSchema
}

// IndexSchema describes a sparse index: it has the items that have both its keys.
type IndexSchema struct {
	Name          Index
	Partition     string // the member that is its partition key, a string
	Sort          string // the member that is its sort key, a string
	NonKeyMembers []string
}

// Units are capacity units.
type Units struct{ Read, Write float64 }

// Plus is the sum of two.
func (u Units) Plus(v Units) Units { return Units{u.Read + v.Read, u.Write + v.Write} }
