package scenario

import (
	"fmt"
	"strings"

	"github.com/rethread/rethread/infra/bench/meter"
)

const preface = `## Units of whole requests
Fan-out is what a request causes; the sweeper is not included. A range is the least and the most after %s turns.
Turns are a question of 300 and an answer of 2,000 characters of ordinary English (infra/bench/prose); the session is at the top
of its owner's list. Tokens have five characters, 50 a second. A test enforces the bounds
(infra/bench/meter/scenario/bounds.go); a goal is what a bound is to become.

| what | count | writes | reads | fan-out: reads | watching | bound | goal |
|---|---:|---:|---:|---:|---:|---|---|
`

// Section is the part of docs/costs.md with the units of whole requests.
func (r Record) Section() string {
	var b strings.Builder
	var histories []string
	known := map[int]bool{}
	for _, m := range r.Measures {
		if !known[m.History] {
			known[m.History] = true
			histories = append(histories, fmt.Sprint(m.History))
		}
	}
	fmt.Fprintf(&b, preface, strings.Join(histories, ", "))
	for _, same := range byScenario(r.Measures) {
		m := same[0]
		own := func(m Measure) meter.Usage { return m.Requests.Plus(m.Runner) }
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", m.Scenario, m.Count,
			span(same, func(m Measure) float64 { return own(m).Writes }), span(same, func(m Measure) float64 { return own(m).Reads }),
			span(same, func(m Measure) float64 { return m.Fanout.Reads }), brief(m.Watch), BoundOf(m), Bounds()[m.Scenario].Goal)
	}
	return b.String()
}

// span returns the least and the most of some measures.
func span(measures []Measure, of func(Measure) float64) string {
	least, most := of(measures[0]), of(measures[0])
	for _, m := range measures {
		least, most = min(least, of(m)), max(most, of(m))
	}
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%v–%v", least, most)
}

// byScenario returns the measures of each scenario, in their order.
func byScenario(measures []Measure) [][]Measure {
	var out [][]Measure
	place := map[string]int{}
	for _, m := range measures {
		i, ok := place[m.Scenario]
		if !ok {
			i = len(out)
			place[m.Scenario], out = i, append(out, nil)
		}
		out[i] = append(out[i], m)
	}
	return out
}
