package delay

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Report writes the results as a table, times in milliseconds.
func Report(out io.Writer, results []Result) error {
	lines := []string{"token to frame\ttokens/s a run\tframes/s\ttokens\tp50 ms\tp99 ms\tstream alone p50\tp99\tratio p50\tp99"}
	for _, r := range results {
		perRun := float64(time.Second) / float64(r.Every)
		lines = append(lines, fmt.Sprintf("%s\t%.3g\t%.0f\t%d\t%s\t%s\t%s\t%s\t%s\t%s", r.Name,
			perRun, perRun*float64(r.Sessions*r.Watchers), len(r.Token),
			millis(r.Token.Percentile(50)), millis(r.Token.Percentile(99)),
			millis(r.Stream.Percentile(50)), millis(r.Stream.Percentile(99)),
			ratio(r, 50), ratio(r, 99)))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return w.Flush()
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }

// ratio returns a token's delay in multiples of the stream's delay.
func ratio(r Result, p int) string {
	alone := r.Stream.Percentile(p)
	if alone == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(r.Token.Percentile(p))/float64(alone))
}
