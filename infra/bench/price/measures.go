package price

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/rethread/rethread/infra/bench/coldstart"
	"github.com/rethread/rethread/infra/bench/cost"
)

// History is the number of turns of a session before the measured operation; the
// cost of an operation does not depend on it (checked by infra/bench/cost).
const History = 1000

// Measures are the recorded results of the benchmark.
type Measures struct {
	Operations map[string]Units `json:"operations"`
	Monitored
	Functions []coldstart.Measure `json:"functions"`
}

// Units are the capacity units of an operation.
type Units struct {
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
}

// Record replaces the operations by those in rows with History turns.
func (m *Measures) Record(rows []cost.Row) {
	m.Operations = map[string]Units{}
	for _, row := range rows {
		if row.History == History {
			m.Operations[row.Operation] = Units{Reads: row.Usage.Reads, Writes: row.Usage.Writes}
		}
	}
}

// ReadFile reads the measures that WriteFile wrote.
func ReadFile(name string) (Measures, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return Measures{}, fmt.Errorf("read the measures: %w", err)
	}
	var m Measures
	if err := json.Unmarshal(text, &m); err != nil {
		return Measures{}, fmt.Errorf("read the measures of %s: %w", name, err)
	}
	return m, nil
}

// WriteFile records the measures.
func (m Measures) WriteFile(name string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the measures: %w", err)
	}
	if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil { //nolint:gosec // it is part of the repository
		return fmt.Errorf("write the measures: %w", err)
	}
	return nil
}
