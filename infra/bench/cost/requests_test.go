package cost_test

import (
	"testing"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/test/capacity"
)

// A conversation costs at most its bounds, whatever makes its requests safe to
// resend, and as much after a long history as after a short one.
func TestRequests(t *testing.T) {
	t.Parallel()
	// Positions and random ids make some entries cross the size of a unit.
	checkRows(t, cost.Requests, []int{10, 100, 5000}, capacity.Usage{Reads: 10, Writes: 10})
}
