package delay

import (
	"slices"
	"time"
)

// Times are measured times, in any order.
type Times []time.Duration

// Percentile returns the smallest time that p percent of the times do not exceed;
// 0 if there are none.
func (t Times) Percentile(p int) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}
