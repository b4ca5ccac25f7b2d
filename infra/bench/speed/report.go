package speed

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Waits are how long callers waited, in any order.
type Waits []time.Duration

// Percentile returns the wait that p percent of the callers did not exceed.
func (w Waits) Percentile(p int) time.Duration {
	if len(w) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(w))
	return sorted[(len(sorted)-1)*p/100]
}

// Report writes the results as a table.
func Report(out io.Writer, results []Result) error {
	lines := []string{"appends by\tratio to bare puts\tms each\trequests each\twrite units\tread units\tp50 ms\tp99 ms\tlongest ms\trefused"}
	for _, r := range results {
		n := float64(max(1, r.Appended))
		lines = append(lines, fmt.Sprintf("%s\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%s\t%s\t%s\t%d of %d", r.Name, r.Ratio(),
			float64(r.Appends)/float64(time.Millisecond), float64(r.Usage.Requests)/n, r.Usage.Writes/n, r.Usage.Reads/n,
			millis(r.Wait.Percentile(50)), millis(r.Wait.Percentile(99)), millis(r.Wait.Percentile(100)), r.Refused, r.Refused+r.Appended))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return w.Flush()
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
