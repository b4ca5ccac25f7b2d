package price_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/bench/price"
	"github.com/rethread/rethread/infra/test/capacity"
)

func TestPage(t *testing.T) {
	measures, err := price.ReadFile("measures.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("docs/costs.md matches the recorded measures", func(t *testing.T) {
		want, err := os.ReadFile("../../../docs/costs.md")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), mustPrint(t, measures)); diff != "" {
			t.Errorf("`make costs` prints another page (-docs/costs.md +printed):\n%s", diff)
		}
	})
	t.Run("higher measures give higher costs", func(t *testing.T) {
		measures.Operations[cost.Turn] = price.Units{Writes: 2_000_000, Reads: 4_000_000}
		page := mustPrint(t, measures)
		for _, line := range []string{
			"| table writes | 1,000 × 2,000,000 units: " + cost.Turn + " | 2,000,000,000 | $0.625 a million write units | $1250.0000 |",
			"| table reads | 1,000 × 4,000,000 units: " + cost.Turn + " | 4,000,000,000 | $0.125 a million read units | $500.0000 |",
			"| 1,000 turns | $1750.0027 |",
		} {
			if !strings.Contains(page, line+"\n") {
				t.Errorf("no line %s in\n%s", line, page)
			}
		}
	})
	t.Run("returns an error for an operation that was not measured", func(t *testing.T) {
		delete(measures.Operations, cost.Turn)
		if err := price.Page(&strings.Builder{}, measures); err == nil || !strings.Contains(err.Error(), cost.Turn) {
			t.Errorf("got %v", err)
		}
	})
}

func TestMeasures(t *testing.T) {
	rows := []cost.Row{
		{Operation: "x", History: 10, Usage: capacity.Usage{Reads: 9, Writes: 9}},
		{Operation: "x", History: price.History, Usage: capacity.Usage{Reads: 1, Writes: 2}},
	}
	want := price.Measures{Operations: map[string]price.Units{"x": {Reads: 1, Writes: 2}}, AlarmMetrics: 3}
	file := filepath.Join(t.TempDir(), "measures.json")
	if err := price.Record(rows, 3).WriteFile(file); err != nil {
		t.Fatal(err)
	}
	got, err := price.ReadFile(file)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func mustPrint(t *testing.T, measures price.Measures) string {
	t.Helper()
	var page strings.Builder
	if err := price.Page(&page, measures); err != nil {
		t.Fatal(err)
	}
	return page.String()
}
