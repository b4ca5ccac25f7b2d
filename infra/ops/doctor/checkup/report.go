package checkup

import (
	"fmt"
	"io"
	"strings"
)

// Report writes each finding as a line, with advice below it.
type Report struct {
	out    io.Writer
	counts map[Status]int
	err    error
}

// NewReport writes to out.
func NewReport(out io.Writer) *Report { return &Report{out: out, counts: map[Status]int{}} }

// Add writes a finding.
func (r *Report) Add(f Finding) {
	r.counts[f.Status]++
	r.printf("%-8s %-24s %s\n", f.Status, f.Name, oneLine(f.Detail))
	if f.Advice != "" {
		r.printf("%-33s → %s\n", "", f.Advice)
	}
}

// End writes the totals, and returns the first write error.
func (r *Report) End() error {
	var sums []string
	for _, s := range []Status{OK, Warn, Fail, Skipped} {
		if n := r.counts[s]; n > 0 {
			sums = append(sums, fmt.Sprintf("%d %s", n, s))
		}
	}
	r.printf("\n%s\n", strings.Join(sums, ", "))
	return r.err
}

func (r *Report) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.out, format, args...)
	}
}

// oneLine keeps a finding on one line, whatever a service's error contains.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
