package cost_test

import (
	"context"
	"testing"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/table"
)

// What an operation costs must neither exceed its bound nor grow with the
// history.
func TestCost(t *testing.T) {
	t.Parallel()
	// Random ids compress to more or less than a KB, in each of two items.
	checkRows(t, cost.Measure, []int{10, 100, 300}, capacity.Usage{Reads: 1, Writes: 2})
}

// checkRows measures after histories of these numbers of turns, and requires that no row
// exceeds its bound, or the first one of its operation by more than slack.
func checkRows(
	t *testing.T, measure func(context.Context, table.Engine, int) ([]cost.Row, error), histories []int, slack capacity.Usage,
) {
	t.Helper()
	engine := storetest.Engine(t)
	first := map[string]cost.Row{}
	for _, history := range histories {
		rows, err := measure(t.Context(), engine, history)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			t.Logf("after %d turns, %s: %+v", history, row.Operation, row.Usage)
			if !row.OK() {
				t.Errorf("after %d turns, %s: %+v; at most %v reads and %v writes",
					history, row.Operation, row.Usage, row.MaxReads, row.MaxWrites)
			}
			small, seen := first[row.Operation]
			if !seen {
				first[row.Operation] = row
				continue
			}
			if row.Usage.Writes > small.Usage.Writes+slack.Writes || row.Usage.Reads > small.Usage.Reads+slack.Reads {
				t.Errorf("%s grows with the history: %+v after %d turns, %+v after %d",
					row.Operation, small.Usage, small.History, row.Usage, history)
			}
		}
	}
}

// TestRewound holds what docs/costs.md says of sessions with many rewinds.
func TestRewound(t *testing.T) {
	t.Parallel()
	checkRows(t, cost.Rewound, []int{20, 300}, capacity.Usage{Reads: 1, Writes: 1})
}
