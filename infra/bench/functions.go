package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rethread/rethread/infra/bench/coldstart"
	"github.com/rethread/rethread/infra/bench/price"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// starts is how often each function is started.
const starts = 51

// recordFunctions measures what Lambda loads at a cold start of each function, records it,
// and writes the pages.
func recordFunctions(ctx context.Context, out io.Writer, root string, template *samtemplate.Template) error {
	measured, err := coldstart.Run(ctx, starts, coldstart.Programs(root, template))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\n%s\n", coldstart.Table(measured)); err != nil {
		return fmt.Errorf("print the measures of functions: %w", err)
	}
	measures, err := price.ReadFile(price.MeasuresFile(root))
	if err != nil {
		return err
	}
	measures.Functions = measured
	if err := measures.WriteFile(price.MeasuresFile(root)); err != nil {
		return err
	}
	return price.Write(root)
}
