// Package faults decides what goes wrong, and when: a plan of storms and calms
// that a seed fixes.
package faults

// Kind is one way in which a request to the database goes wrong.
type Kind string

// The kinds of faults.
const (
	None     Kind = ""
	Throttle Kind = "throttle" // refused, as there are too many requests
	Conflict Kind = "conflict" // refused, as another transaction has the item
	Before   Kind = "before"   // an internal error, and nothing was done
	After    Kind = "after"    // an internal error, though all was done
	Cut      Kind = "cut"      // all was done, and the connection breaks
	Torn     Kind = "torn"     // all was done, and the connection breaks within the answer
	Delay    Kind = "delay"    // all is done, late
	Partial  Kind = "partial"  // a batch of which a part is left over
	Repeated Kind = "repeated" // records of the stream that came before
	Failing  Kind = "failing"  // the stream cannot be read now
	Expired  Kind = "expired"  // the reader's place in the stream is forgotten
)

// Kinds lists all of them.
func Kinds() []Kind {
	return []Kind{Throttle, Conflict, Before, After, Cut, Torn, Delay, Partial, Repeated, Failing, Expired}
}

// Possible are the kinds that can happen to an operation, by its name.
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
