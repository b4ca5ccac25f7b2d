// Package faults decides which faults occur, and when: a plan of phases with many
// and few faults, determined by a seed.
package faults

// Kind is a kind of fault of a request to the database.
type Kind string

// Kinds of faults.
const (
	None     Kind = ""
	Throttle Kind = "throttle" // refused: too many requests
	Conflict Kind = "conflict" // refused: another transaction has the item
	Before   Kind = "before"   // an internal error; the request was not carried out
	After    Kind = "after"    // an internal error, although the request was carried out
	Cut      Kind = "cut"      // carried out, but the connection breaks
	Torn     Kind = "torn"     // carried out, but the connection breaks within the answer
	Delay    Kind = "delay"    // carried out late
	Partial  Kind = "partial"  // a part of a batch is left over
	Repeated Kind = "repeated" // earlier records of the stream again
	Failing  Kind = "failing"  // the stream cannot be read at the moment
	Expired  Kind = "expired"  // the stream iterator has expired
)

// Kinds lists all of them.
func Kinds() []Kind {
	return []Kind{Throttle, Conflict, Before, After, Cut, Torn, Delay, Partial, Repeated, Failing, Expired}
}

// Possible returns the kinds that an operation, given by name, can have.
func Possible(operation string) []Kind {
	always := []Kind{Throttle, Before, After, Cut, Torn, Delay}
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "TransactGetItems":
		return append(always, Conflict)
	case "GetItem", "Query", "Scan":
		return always
	case "BatchWriteItem", "BatchGetItem":
		return append(always, Partial)
	case "GetRecords":
		return []Kind{Throttle, Before, Cut, Torn, Delay, Repeated, Failing, Expired}
	case "GetShardIterator", "DescribeStream":
		return []Kind{Throttle, Before, Cut, Delay, Failing}
	}
	return nil
}
