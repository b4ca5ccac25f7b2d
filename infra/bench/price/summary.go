package price

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
)

// The first lines of the tables in the README.
const (
	unitsHead   = "| a whole request, with its fan-out | write units | read units |\n"
	dollarsHead = "| use, at list prices, without taxes, X-Ray and models | cost |\n"
)

// ErrNoTable means that a text lacks a table.
var ErrNoTable = errors.New("the table is missing")

// Summary returns a text, the README, with its two tables of costs replaced by those of
// the measures.
func Summary(readme string, measures Measures, record scenario.Record) (string, error) {
	a := &accountant{prices: list(), measures: measures, record: record}
	units, costs := a.unitRows(), a.dollarRows()
	if a.missing != nil {
		return "", a.missing
	}
	readme, err := replace(readme, unitsHead, "|---|---:|---:|\n"+units)
	if err != nil {
		return "", err
	}
	return replace(readme, dollarsHead, "|---|---:|\n"+costs)
}

// unitRows are the units of requests, with those of fan-out.
func (a *accountant) unitRows() string {
	var b strings.Builder
	for _, row := range []struct{ title, name string }{
		{"a turn: question of 300, answer of 2,000 characters, not safe to resend", scenario.Unsafe},
		{"the same, safe to resend", scenario.SafeInvocation},
		{"rewind the last invocation, if it changed no state", scenario.Rewind},
		{"fork, at any depth", scenario.ForkDeep},
		{"a new task of 2 KB", scenario.NewTask},
		{"an update of it", scenario.UpdateTask},
		{"load a turn, with 99 others", scenario.Load},
	} {
		m := a.metered(row.name)
		each := func(units float64) string { return fmt.Sprintf("%.3g", units/float64(m.Count)) }
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.title, each(m.Total().Writes), each(m.Total().Reads))
	}
	return b.String()
}

// idlePlace is the place of the idle month among the wholes, which is the last row.
const idlePlace = 5

func (a *accountant) dollarRows() string {
	var b strings.Builder
	for _, bill := range slices.Insert(a.wholes(), idlePlace, a.streams(), a.frontends(), a.histories()) {
		fmt.Fprintf(&b, "| %s | $%s |\n", bill.Title, rounded(bill.Total()))
	}
	return b.String()
}

// rounded formats dollars in cents, and small amounts with four decimals.
func rounded(d float64) string {
	if d >= 0.1 {
		return fmt.Sprintf("%.2f", d)
	}
	return fmt.Sprintf("%.4f", d)
}

// replace replaces what follows the first line of a table.
func replace(text, head, rows string) (string, error) {
	before, rest, found := strings.Cut(text, head)
	if !found {
		return "", fmt.Errorf("%w: %s", ErrNoTable, head)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	return before + head + rows + "\n" + after, nil
}
