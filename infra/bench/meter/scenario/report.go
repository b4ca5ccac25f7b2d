package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/rethread/rethread/infra/bench/meter"
)

// Record is the recorded result of a run of the scenarios.
type Record struct {
	Date string `json:"date"` // year, month and day
	// Memory is the memory of functions in GB, by logical id.
	Memory   map[string]float64 `json:"memory_gb"`
	Measures []Measure          `json:"measures"`
}

// Report writes the measures as a table, those of a scenario together.
func Report(out io.Writer, measures []Measure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	// Errors of a tabwriter appear when it is flushed.
	_, _ = fmt.Fprintln(w, "scenario\tcount\tturns before\twrites\treads\tcalls\tof the worker\tof fan-out\tof watching\tbound")
	for _, same := range byScenario(measures) {
		for _, m := range same {
			_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%v\t%v\t%d\t%s\t%s\t%s\t%s\n", m.Scenario, m.Count, m.History,
				m.Requests.Writes, m.Requests.Reads, m.Requests.Requests, brief(m.Runner), brief(m.Fanout), brief(m.Watch), BoundOf(m))
		}
	}
	return w.Flush()
}

func brief(u meter.Usage) string {
	if u.Requests == 0 {
		return ""
	}
	return fmt.Sprintf("%v W, %v R", u.Writes, u.Reads)
}

// WriteFile writes the record, which ReadFile reads.
func (r Record) WriteFile(name string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the measures: %w", err)
	}
	if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil { //nolint:gosec // it is part of the repository
		return fmt.Errorf("write the measures: %w", err)
	}
	return nil
}

// ReadFile reads a record.
func ReadFile(name string) (Record, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return Record{}, fmt.Errorf("read the measures: %w", err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("read the measures of %s: %w", name, err)
	}
	return r, nil
}
