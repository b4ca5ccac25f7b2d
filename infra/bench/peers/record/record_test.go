package record_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/peers/record"
)

func mustSection(t *testing.T, r record.Record) string {
	t.Helper()
	section, err := r.Section()
	if err != nil {
		t.Fatal(err)
	}
	return section
}

func mustPlots(t *testing.T, r record.Record) map[string][]byte {
	t.Helper()
	files, err := r.Plots()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// small is a record with two peers, of which the other fails.
func small() record.Record {
	point := func(turns int, writes, reads float64) record.Point {
		return record.Point{Turns: turns, Usage: meter.Usage{Requests: 1, Writes: writes, Reads: reads}}
	}
	return record.Record{
		Date: "2026-11-23", Engine: "an engine",
		Plan: record.Plan{Turns: []int{10, 20}, Step: 10, Branch: 10, Before: 10, Tokens: 1000, Question: 300, Answer: 2000},
		Peers: []record.Peer{
			{
				Name: "Rethread", Short: "Rethread", Curve: []record.Point{point(10, 20, 10), point(20, 40, 20)},
				Loads:  []record.Point{point(10, 0, 5.5), point(20, 0, 8)},
				Rewind: record.Outcome{Usage: meter.Usage{Writes: 5}}, Fork: record.Outcome{Usage: meter.Usage{Writes: 9}},
				Stream: record.Outcome{Usage: meter.Usage{Writes: 1600, Reads: 8000}},
			},
			{
				Name: "Other", Short: "Other", Curve: []record.Point{point(10, 10, 0)},
				Loads:  []record.Point{point(10, 0, 55), {Turns: 20, Wrong: "12 texts | 40"}},
				Failed: &record.Failure{Turn: 13, Error: "item | too large"},
				Rewind: record.Outcome{Error: "no"}, Fork: record.Outcome{Usage: meter.Usage{Writes: 10}},
				Stream: record.Outcome{Usage: meter.Usage{Writes: 3200}},
			},
		},
	}
}

func TestPage(t *testing.T) {
	page := mustSection(t, small())
	for _, want := range []string{
		"| Rethread | 20 W, 10 R | 40 W, 20 R | $0.00003 |\n",
		"| Other | 10 W | **fails at turn 13** | – |\n",
		"| Rethread | 5.5 R | 8 R |\n",
		"| Other | 55 R | **wrong**: 12 texts \\| 40 |\n",
		"| Rethread | 5 W | 9 W |\n",
		"| Other | **fails**: no | 10 W |\n",
		"| Rethread | 1,600 W, 8,000 R | $2.000 |\n",
		"- For storing 10 turns, the units of these cost less than those of Rethread through HTTP: Other (45 %).\n",
		"- For loading 10 turns, no other store's units cost less than those of Rethread through HTTP.\n",
		"- For a rewind, no other store's units cost less than those of Rethread through HTTP.\n",
		"- Other **fails at turn 13** of a thread: item \\| too large\n",
		"- Other **does not load 20 turns whole**: 12 texts \\| 40\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestPlots(t *testing.T) {
	before := mustPlots(t, small())
	changed := small()
	changed.Peers[1].Curve[0].Usage.Writes *= 2
	changed.Peers[1].Loads[0].Usage.Reads /= 2
	changed.Peers[1].Stream.Usage.Writes /= 2
	for name, after := range mustPlots(t, changed) {
		if bytes.Equal(before[name], after) {
			t.Errorf("%s does not show other measures", name)
		}
		if !bytes.HasPrefix(after, []byte("<svg ")) || !bytes.Contains(after, []byte("fill:white")) || !bytes.Contains(after, []byte(">Other")) {
			t.Errorf("%s is no plot of both stores on white:\n%s", name, after)
		}
	}
}

func TestEmpty(t *testing.T) {
	if files, err := (record.Record{}).Plots(); err == nil {
		t.Errorf("an empty record gives %d plots", len(files))
	}
	if section, err := (record.Record{}).Section(); err == nil {
		t.Errorf("an empty record gives %s", section)
	}
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), record.DataFile)
	if err := small().WriteFile(name); err != nil {
		t.Fatal(err)
	}
	got, err := record.ReadFile(name)
	if diff := cmp.Diff(small(), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := record.ReadFile(name + "x"); err == nil {
		t.Error("a file that does not exist was read")
	}
}
