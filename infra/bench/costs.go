package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/bench/price"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// costs measures the cost of the operations, in memory: DynamoDB Local leaves the index
// out of what it reports for transactions.
func costs(ctx context.Context, out io.Writer) ([]cost.Row, error) {
	engine := memory.New(store.Schema())
	var rows []cost.Row
	for _, history := range []int{10, 100, price.History, 5000} {
		measured, err := cost.Measure(ctx, engine, history)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, report(out, rows)
}

// report writes the table, with the rows of an operation together.
func report(out io.Writer, rows []cost.Row) error {
	lines := []string{"operation\tturns before\twrite units\tat most\tread units\tat most\trequests"}
	var order []string
	byName := map[string][]cost.Row{}
	for _, r := range rows {
		if byName[r.Operation] == nil {
			order = append(order, r.Operation)
		}
		byName[r.Operation] = append(byName[r.Operation], r)
	}
	dear := false
	for _, name := range order {
		for _, r := range byName[name] {
			lines = append(lines, fmt.Sprintf("%s\t%d\t%v\t%s\t%v\t%s\t%d", name, r.History,
				r.Usage.Writes, bound(r.MaxWrites), r.Usage.Reads, bound(r.MaxReads), r.Usage.Requests))
			dear = dear || !r.OK()
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if dear {
		return errors.New("an operation costs more than it may")
	}
	return nil
}

func bound(units float64) string {
	if units == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g", units)
}
