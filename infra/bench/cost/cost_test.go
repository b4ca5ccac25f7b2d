package cost_test

import (
	"testing"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/test/storetest"
)

// What an operation costs must neither exceed its bound nor grow with the
// history.
func TestCost(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	first := map[string]cost.Row{}
	for _, history := range []int{10, 100, 300} {
		rows, err := cost.Measure(t.Context(), engine, history)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if !row.OK() {
				t.Errorf("after %d turns, %s: %+v; at most %v reads and %v writes",
					history, row.Operation, row.Usage, row.MaxReads, row.MaxWrites)
			}
			small, seen := first[row.Operation]
			if !seen {
				first[row.Operation] = row
				continue
			}
			// Random ids compress to more or less than a KB, in each of two items.
			if row.Usage.Writes > small.Usage.Writes+2 || row.Usage.Reads > small.Usage.Reads+1 {
				t.Errorf("%s grows with the history: %+v after %d turns, %+v after %d",
					row.Operation, small.Usage, small.History, row.Usage, history)
			}
		}
	}
}
