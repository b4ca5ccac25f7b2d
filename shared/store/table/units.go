package table

import "github.com/rethread/rethread/shared/store/table/value"

// The bytes that one unit covers.
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
	// TransactionFactor is the cost of a transaction relative to its writes alone:
	// each write is prepared and committed.
	TransactionFactor = 2
)

// WriteUnits returns the cost of a write of size bytes outside a transaction.
func WriteUnits(size int) float64 { return float64(max(1, rounded(size, writeUnitBytes))) }

// ReadUnits returns the cost of reading size bytes, an item or a whole page.
func ReadUnits(size int, consistent bool) float64 {
	units := float64(max(1, rounded(size, readUnitBytes)))
	if consistent {
		return units
	}
	return units / 2
}

func rounded(size, unit int) int { return (size + unit - 1) / unit }

// RefusedUnits returns the cost of a write whose condition does not hold, which no
// table reports: that of the larger of the stored item and the item to be put.
func RefusedUnits(w Write, found Item) float64 {
	return WriteUnits(max(value.Size(w.Item), value.Size(found)))
}

// RefusedTransactionUnits returns the cost of a cancelled transaction as far as its
// answer shows it: the items that its failures found.
func RefusedTransactionUnits(writes []Write, failures []Failure) float64 {
	found := make(map[int]Item, len(failures))
	for _, f := range failures {
		found[f.Write] = f.Found
	}
	units := 0.0
	for i, w := range writes {
		units += TransactionFactor * RefusedUnits(w, found[i])
	}
	return units
}
