package price_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/coldstart"
	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/bench/meter/scenario"
	peers "github.com/rethread/rethread/infra/bench/peers/record"
	"github.com/rethread/rethread/infra/bench/price"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/test/capacity"
)

func TestPage(t *testing.T) {
	measures, err := price.ReadFile("measures.json")
	if err != nil {
		t.Fatal(err)
	}
	record, err := scenario.ReadFile("../../../docs/benchmarks/meter.json")
	if err != nil {
		t.Fatal(err)
	}
	others, err := peers.ReadFile("../../../docs/benchmarks/peers.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("docs/costs.md matches the recorded measures", func(t *testing.T) {
		want, err := os.ReadFile("../../../docs/costs.md")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), mustPrint(t, measures, record, others)); diff != "" {
			t.Errorf("`make costs` prints another page (-docs/costs.md +printed):\n%s", diff)
		}
	})
	t.Run("the recorded alarms, dashboards and functions are those of template.yaml", func(t *testing.T) {
		template, err := os.ReadFile("../../../template.yaml")
		if err != nil {
			t.Fatal(err)
		}
		monitored, err := price.Monitoring(template)
		if diff := cmp.Diff(monitored, measures.Monitored); err != nil || diff != "" || monitored.AlarmMetrics == 0 || monitored.Answering == 0 {
			t.Errorf("%v (-template.yaml +recorded)\n%s", err, diff)
		}
	})
	t.Run("an idle month with one queue costs at most $1.20", func(t *testing.T) {
		_, text, _ := strings.Cut(mustPrint(t, measures, record, others), "With one queue that is $")
		amount, _, _ := strings.Cut(text, ";")
		if cost := mustDollars(t, amount); cost > 1.2 || cost == 0 {
			t.Errorf("$%v", cost)
		}
	})
	t.Run("the README has the recorded costs", func(t *testing.T) {
		readme, err := os.ReadFile("../../../README.md")
		if err != nil {
			t.Fatal(err)
		}
		replaced, err := price.Summary(string(readme), measures, record)
		if diff := cmp.Diff(string(readme), replaced); err != nil || diff != "" {
			t.Errorf("`make costs` writes other costs: %v (-README.md +written)\n%s", err, diff)
		}
		if _, err := price.Summary("# No costs", measures, record); !errors.Is(err, price.ErrNoTable) {
			t.Errorf("without a table: %v", err)
		}
	})
	t.Run("the README's idle month is the page's", func(t *testing.T) {
		readme, err := os.ReadFile("../../../README.md")
		if err != nil {
			t.Fatal(err)
		}
		_, about, _ := strings.Cut(string(readme), "An idle deployment costs\nabout $")
		about, _, found := strings.Cut(about, " a month")
		_, exact, _ := strings.Cut(mustPrint(t, measures, record, others), "### A month without requests: $")
		exact, _, _ = strings.Cut(exact, "\n")
		if said, is := mustDollars(t, about), mustDollars(t, exact); !found || math.Abs(said-is) > 0.05 {
			t.Errorf("the README says %v, the page %v", said, is)
		}
	})
	t.Run("docs/operation.md has the recorded functions", func(t *testing.T) {
		page, err := os.ReadFile("../../../docs/operation.md")
		if err != nil {
			t.Fatal(err)
		}
		replaced, err := coldstart.Page(string(page), measures.Functions)
		if diff := cmp.Diff(string(page), replaced); err != nil || diff != "" {
			t.Errorf("`make costs` writes another table: %v (-docs/operation.md +written)\n%s", err, diff)
		}
	})
	t.Run("the recorded functions are those of template.yaml, with their memory", func(t *testing.T) {
		template, err := samtemplate.Load("../../../template.yaml", samtemplate.Options{
			Parameters: map[string]string{"JwtIssuer": "https://bench.invalid", "JwtAudience": "bench"},
		})
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]int{}, map[string]int{}
		for _, p := range coldstart.Programs("", template) {
			want[p.Name] = p.Function.MemoryMB
		}
		for _, m := range measures.Functions {
			got[m.Name] = m.MemoryMB
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run make bench-functions (-template.yaml +recorded)\n%s", diff)
		}
	})
	t.Run("no other page states a price", func(t *testing.T) {
		pages, err := filepath.Glob("../../../docs/*.md")
		if err != nil || len(pages) < 30 {
			t.Fatalf("%d pages: %v", len(pages), err)
		}
		for _, name := range pages {
			switch filepath.Base(name) {
			case "costs.md", "changelog.md", "security.md", "console.md": // a key's price is nowhere else; formulas
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if found := regexp.MustCompile(`\$\d[\d.]*`).FindAll(text, -1); found != nil {
				t.Errorf("%s says %s: link to costs.md", name, found)
			}
		}
	})
	t.Run("higher measures give higher costs", func(t *testing.T) {
		measures.Operations[cost.QueueInput] = price.Units{Writes: 2_000_000, Reads: 4_000_000}
		dear := record.Measures[index(t, record, scenario.SafeInvocation)]
		dear.Count, dear.Requests.Writes = 1, 2_000_000-dear.Total().Writes+dear.Requests.Writes
		record.Measures[index(t, record, scenario.SafeInvocation)] = dear
		page := mustPrint(t, measures, record, others)
		for _, line := range []string{
			"| table writes | 1,000 × 2,000,000 units: " + cost.QueueInput + " | 2,000,000,000 | $0.625 a million write units | $1250.0000 |",
			"| table reads | 1,000 × 4,000,000 units: " + cost.QueueInput + " | 4,000,000,000 | $0.125 a million read units | $500.0000 |",
			"| table writes | 1,000 × 2,000,000 | 2,000,000,000 | $0.625 a million write units | $1250.0000 |",
		} {
			if !strings.Contains(page, line+"\n") {
				t.Errorf("no line %s in\n%s", line, page)
			}
		}
	})
	t.Run("the services of a use add up to its cost", func(t *testing.T) {
		rows := 0
		for line := range strings.Lines(mustPrint(t, measures, record, others)) {
			cells := strings.Split(line, "|")
			if len(cells) < 4 || !strings.HasPrefix(cells[len(cells)-2], " **$") {
				continue
			}
			sum := 0.0
			for _, cell := range cells[2 : len(cells)-2] {
				sum += mustDollars(t, cell)
			}
			if whole := mustDollars(t, strings.ReplaceAll(cells[len(cells)-2], "*", "")); math.Abs(sum-whole) > 0.0005 {
				t.Errorf("%v: the services cost %v", line, sum)
			}
			rows++
		}
		if rows < 6 {
			t.Errorf("found %d uses", rows)
		}
	})
	t.Run("returns an error if no other store was measured", func(t *testing.T) {
		if err := price.Page(&strings.Builder{}, measures, record, peers.Record{}); err == nil || !strings.Contains(err.Error(), "make bench-peers") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("returns an error for an operation that was not measured", func(t *testing.T) {
		delete(measures.Operations, cost.QueueInput)
		if err := price.Page(&strings.Builder{}, measures, record, others); err == nil || !strings.Contains(err.Error(), cost.QueueInput) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("returns an error for a scenario that was not measured", func(t *testing.T) {
		if err := price.Page(&strings.Builder{}, measures, scenario.Record{}, others); err == nil || !strings.Contains(err.Error(), "make meter") {
			t.Errorf("got %v", err)
		}
	})
}

// index returns the place of a scenario's measure that the page shows.
func index(t *testing.T, record scenario.Record, name string) int {
	t.Helper()
	for i, m := range record.Measures {
		if m.Scenario == name && m.History == price.History {
			return i
		}
	}
	t.Fatalf("%q was not measured after %d turns", name, price.History)
	return 0
}

func mustDollars(t *testing.T, cell string) float64 {
	t.Helper()
	d, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(cell), "$"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMeasures(t *testing.T) {
	rows := []cost.Row{
		{Operation: "x", History: 10, Usage: capacity.Usage{Reads: 9, Writes: 9}},
		{Operation: "x", History: price.History, Usage: capacity.Usage{Reads: 1, Writes: 2}},
	}
	recorded := price.Measures{
		Operations: map[string]price.Units{"removed": {}},
		Monitored:  price.Monitored{AlarmMetrics: 3, Dashboards: 1, Answering: 2},
		Functions:  []coldstart.Measure{{Name: coldstart.Bare, Bytes: 4, Zipped: 3, StartMS: 2, Relative: 1, Resident: 5}},
	}
	want := recorded
	want.Operations = map[string]price.Units{"x": {Reads: 1, Writes: 2}}
	file := filepath.Join(t.TempDir(), "measures.json")
	recorded.Record(rows)
	if err := recorded.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	got, err := price.ReadFile(file)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func mustPrint(t *testing.T, measures price.Measures, record scenario.Record, others peers.Record) string {
	t.Helper()
	var page strings.Builder
	if err := price.Page(&page, measures, record, others); err != nil {
		t.Fatal(err)
	}
	return page.String()
}
