// Package table is the storage contract: what the store needs from a key-value
// table with sorted partitions, conditional writes and transactions. The engines
// are DynamoDB (package dynamo) and memory (package memory). Package tabletest is
// the conformance suite that every engine passes, and package faults injects
// failures into any of them.
//
// Conditions and changes are values that an engine turns into requests; only
// engines write expressions.
package table

import "context"

// Engine is a table. It is safe for concurrent use.
//
// Each method sends a request once, or until it is complete if that is safe:
// unconditional batches repeat what the table left unprocessed, and transactions
// repeat under their token. A conditional write is never repeated blindly: if its
// answer was lost, the caller gets ErrUndecided and reads the item.
//
// Errors wrap exactly one of the errors of this package, or the context's error: a
// read that the context ends returns the context's error, a write that was sent
// returns ErrUndecided. Units are returned with errors too, as far as they are
// known. An invalid request is refused before it is sent and costs nothing.
type Engine interface {
	// Get reads one item; nil if it does not exist.
	Get(ctx context.Context, k Key, r Reading) (Item, Units, error)

	// Write carries out one write. If a condition does not hold, it returns a
	// *ConditionError with the item that was found.
	Write(ctx context.Context, w Write) (Units, error)

	// Transact carries out up to MaxTransaction writes, all or none, each of
	// another item. Conditions that do not hold return a *ConditionError, unless
	// another of the writes is invalid or too large for its item. A concurrent
	// transaction or write of one of the items returns ErrConflict. Within ten
	// minutes, a repeat with the same token and writes succeeds and changes
	// nothing; a repeat with the same token and other writes returns ErrInvalid.
	Transact(ctx context.Context, t Transaction) (Units, error)

	// Query reads a page of one partition of the table or an index, in the order of
	// the sort key. A page ends with the item that makes it exceed MaxPageBytes.
	Query(ctx context.Context, q Query) (Page, error)

	// BatchGet reads any number of items, without duplicates and in no particular
	// order; missing items are left out.
	BatchGet(ctx context.Context, keys []Key, r Reading) ([]Item, Units, error)

	// BatchWrite carries out any number of unconditional puts and deletes, not
	// atomically and in no particular order. It may be repeated after an error.
	BatchWrite(ctx context.Context, writes []Write) (Units, error)
}

// The limits of every engine, which are DynamoDB's.
const (
	MaxItemBytes        = 400 << 10
	MaxTransaction      = 100
	MaxTransactionBytes = 4 << 20
	MaxPageBytes        = 1 << 20
	MaxPartitionKey     = 2048 // bytes
	MaxSortKey          = 1024 // bytes
)

// Reading is how to read. The zero value reads all members with eventual
// consistency, which may miss the latest writes and costs half.
type Reading struct {
	Consistent bool
	// Members are the members to read; nil reads all. They reduce the bytes
	// transferred, not the units.
	Members []string
}

// Transaction is a set of writes that happen all or not at all.
type Transaction struct {
	// Token identifies the transaction; if it is empty, the engine generates one.
	Token  string
	Writes []Write
}

// Query selects items of one partition.
type Query struct {
	Index     Index // empty for the table itself
	Partition string
	// From and To bound the sort keys, both inclusive; "" is no bound.
	From, To string
	// Descending reads from To to From.
	Descending bool
	// Limit is the maximum number of items to read; 0 leaves MaxPageBytes as the
	// only limit.
	Limit int
	// After continues after a page, from its Next.
	After Position
	Reading
}

// Page is a part of the results of a query.
type Page struct {
	Items []Item
	// set if there may be more results
	Next  Position
	Units Units
}

// Position is the position of an item in the table or an index; nil for none. It
// holds the item's keys and may be stored.
type Position Item

// Index names a secondary index; "" is the table.
type Index string

// Schema describes a table. Keys of the table are PK and SK, both strings; the keys
// of an index are members of the items.
type Schema struct {
	Indexes []IndexSchema
}

// IndexSchema describes a sparse index: it contains the items that have both its
// keys.
type IndexSchema struct {
	Name          Index
	Partition     string // the member that is the partition key, a string
	Sort          string // the member that is the sort key, a string
	NonKeyMembers []string
}

// Units are capacity units.
type Units struct{ Read, Write float64 }

// Plus returns the sum of u and v.
func (u Units) Plus(v Units) Units { return Units{u.Read + v.Read, u.Write + v.Write} }
