package play

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// tolerance is the part of its budget by which a step may exceed it unnamed: machines differ.
const tolerance = 0.2

// table shows all steps, those that took most of the processor first, and below it those
// that exceed their budgets.
func table(steps []Step, results []Result, wall time.Duration) string {
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b Result) int { return cmp.Compare(b.CPU, a.CPU) })
	var text, over strings.Builder
	row := func(name, cpu, budget, wall, cases, outcome string) {
		line := fmt.Sprintf("%-15s %6s %6s %6s %8s  %s", name, cpu, budget, wall, cases, outcome)
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	row("step", "CPU s", "budget", "wall s", "cases", "")
	var cpu time.Duration
	var budget float64
	cases, ran := 0, map[string]bool{}
	for _, r := range sorted {
		outcome := ""
		if r.Err != nil {
			outcome = "FAILED"
		}
		row(r.Step.Name, seconds(r.CPU), fmt.Sprintf("%.0f", r.Step.CPU), seconds(r.Wall), fmt.Sprint(r.Cases), outcome)
		if r.CPU.Seconds() > r.Step.CPU*(1+tolerance) {
			fmt.Fprintf(&over, "over its budget: %s took %s s of the processor instead of %.0f\n", r.Step.Name, seconds(r.CPU), r.Step.CPU)
		}
		cpu, budget, cases, ran[r.Step.Name] = cpu+r.CPU, budget+r.Step.CPU, cases+r.Cases, true
	}
	for _, s := range steps {
		switch {
		case s.Unchanged != "":
			row(s.Name, "-", "-", "-", "-", "unchanged since "+s.Unchanged)
		case !ran[s.Name]:
			row(s.Name, "-", "-", "-", "-", "not run")
		}
	}
	row(fmt.Sprintf("%d of %d steps", len(ran), len(steps)), seconds(cpu), fmt.Sprintf("%.0f", budget), seconds(wall), fmt.Sprint(cases), "")
	return text.String() + over.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }
