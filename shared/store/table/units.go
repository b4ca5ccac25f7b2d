package table

import "github.com/rethread/rethread/shared/store/table/value"

// What units pay for.
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
	// TransactionFactor is how much dearer a transaction is than its writes alone:
	// it prepares each of them, and commits it.
	TransactionFactor = 2
)

// WriteUnits is what a write of so many bytes costs, outside a transaction.
func WriteUnits(size int) float64 { return float64(max(1, rounded(size, writeUnitBytes))) }

// ReadUnits is what reading so many bytes costs, an item or a whole page.
func ReadUnits(size int, consistent bool) float64 {
	units := float64(max(1, rounded(size, readUnitBytes)))
	if consistent {
		return units
	}
	return units / 2
}

func rounded(size, unit int) int { return (size + unit - 1) / unit }

// RefusedUnits is what a write costs whose condition does not hold, which no table
// reports: that of the larger of what was found and what was to be put.
func RefusedUnits(w Write, found Item) float64 {
	return WriteUnits(max(value.Size(w.Item), value.Size(found)))
}

// RefusedTransactionUnits is what a cancelled transaction costs as far as its
// answer shows, which is what its failures found.
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
