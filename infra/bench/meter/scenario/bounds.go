package scenario

import (
	"errors"
	"fmt"
)

// Bound is the most that a scenario may cost. Writes and Reads are units of the requests
// and of the worker, Fanout the read units of functions that react to changes.
type Bound struct {
	Writes, Reads, Fanout Limit
	// Grows means that the scenario still costs more after more turns.
	Grows bool
	// Goal is what the bound is to become.
	Goal string
}

// Limit is a number of units: Fixed, and Each for each turn or token of the scenario. The
// zero value limits nothing.
type Limit struct{ Fixed, Each float64 }

// of returns the limit for a count.
func (l Limit) of(count float64) float64 { return l.Fixed + l.Each*count }

func (l Limit) exceeded(units, count float64) bool { return l != Limit{} && units > l.of(count) }

// Bounds are the bounds by scenario. One is lowered here when its scenario has become
// cheaper. Their fixed parts leave room for texts that compress worse than the average, and
// the reads of turns for requests that reach several instances of the function in turn, as
// on a busy machine: an instance that wrote the turn before reads a unit less.
func Bounds() map[string]Bound {
	none := Limit{Fixed: 0.5} // less than any write
	return map[string]Bound{
		Unsafe: {
			Writes: Limit{5, 2.7}, Reads: Limit{3, 2}, Fanout: Limit{6, 2},
		},
		SafeInvocation: {
			Writes: Limit{5, 2.7}, Reads: Limit{3, 2}, Fanout: Limit{6, 2},
		},
		SafeIDs: {
			Writes: Limit{5, 4.9}, Reads: Limit{3, 2}, Fanout: Limit{6, 2}, Goal: "370 W for 100 turns",
		},
		SafeKey: {
			Writes: Limit{5, 3.65}, Reads: Limit{3, 3}, Fanout: Limit{6, 2},
		},
		Single: {
			Writes: Limit{5, 3}, Reads: Limit{3, 4}, Fanout: Limit{6, 3},
		},
		Newest:      {Reads: Limit{Fixed: 20}},
		List:        {Reads: Limit{Fixed: 3}},
		NoRun:       {Reads: Limit{Fixed: 3}},
		NotRun:      {Grows: true, Goal: "3 R, whatever the history"},
		Load:        {Reads: Limit{5, 0.1}},
		LoadPages:   {Reads: Limit{7, 0.18}},
		LoadRuns:    {Reads: Limit{5, 0.2}, Goal: "18 R for 100 turns"},
		BehindLarge: {Writes: Limit{Fixed: 3}, Reads: Limit{Fixed: 3}},
		Fork:        {Writes: Limit{Fixed: 7}, Reads: Limit{Fixed: 6}},
		// Such a fork may store which logs its ancestors have (ADR 74).
		ForkDeep:   {Writes: Limit{Fixed: 9}, Reads: Limit{Fixed: 7}},
		Rewind:     {Writes: Limit{Fixed: 5}, Reads: Limit{Fixed: 5}},
		Create:     {Writes: Limit{Fixed: 2}, Reads: Limit{Fixed: 1}},
		NewTask:    {Writes: Limit{Fixed: 5}, Reads: Limit{Fixed: 7}},
		UpdateTask: {Writes: Limit{Fixed: 2}, Reads: Limit{Fixed: 4}},
		Streamed: {
			Writes: Limit{25, 0.078}, Reads: Limit{32, 0.014}, Fanout: Limit{Fixed: 15}, Goal: "100 W, 60 R for 1,000 tokens, with fan-out",
		},
		Watched: {
			Writes: Limit{27, 0.08}, Reads: Limit{32, 0.014}, Fanout: Limit{15, 0.09},
		},
		External: {
			Writes: Limit{27, 0.08}, Reads: Limit{40, 0.052}, Fanout: Limit{Fixed: 15}, Goal: "100 W, 100 R for 1,000 tokens, with fan-out",
		},
		Searched(10, SearchedFirst):  {Writes: Limit{Fixed: 4}, Reads: Limit{Fixed: 5}},
		Searched(10, SearchedAgain):  {Writes: none, Reads: Limit{Fixed: 3}},
		Searched(10, SearchedMore):   {Writes: none, Reads: Limit{Fixed: 3.5}},
		Searched(10, SearchedFound):  {Writes: none, Reads: Limit{Fixed: 6.5}},
		Searched(100, SearchedFirst): {Writes: Limit{Fixed: 11}, Reads: Limit{Fixed: 20}},
		Searched(100, SearchedAgain): {Writes: none, Reads: Limit{Fixed: 4}},
		Searched(100, SearchedMore):  {Writes: none, Reads: Limit{Fixed: 4.5}},
		Searched(100, SearchedFound): {Writes: none, Reads: Limit{Fixed: 8}},
	}
}

// ErrDear means that a scenario costs more than it may.
var ErrDear = errors.New("a scenario costs more than it may")

// Check returns ErrDear for a measure beyond its bound.
func Check(m Measure) error {
	b, units := Bounds()[m.Scenario], m.Requests.Plus(m.Runner)
	count := max(float64(m.Count), m.Seconds*TokensPerSecond) // a slow machine takes more time, and so more flushes
	if b.Writes.exceeded(units.Writes, count) || b.Reads.exceeded(units.Reads, count) || b.Fanout.exceeded(m.Fanout.Reads, count) {
		return fmt.Errorf("%w: %d %s, after %d turns: %v W, %v R and %v R of fan-out, bounds %s",
			ErrDear, m.Count, m.Scenario, m.History, units.Writes, units.Reads, m.Fanout.Reads, BoundOf(m))
	}
	return nil
}

// BoundOf returns the bound of a measure, "" if it has none.
func BoundOf(m Measure) string {
	b, ok := Bounds()[m.Scenario]
	if !ok {
		return ""
	}
	out := ""
	for _, part := range []struct {
		limit Limit
		unit  string
	}{{b.Writes, "W"}, {b.Reads, "R"}, {b.Fanout, "R of fan-out"}} {
		if part.limit == (Limit{}) {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += fmt.Sprintf("%.4g %s", part.limit.of(float64(m.Count)), part.unit)
	}
	return out
}
