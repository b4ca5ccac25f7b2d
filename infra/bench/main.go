// Command bench prints the capacity units of the store's operations, over
// histories of growing length, what Lambda loads at a cold start of each function, and the
// delay of tokens to their watchers. It fails if an operation exceeds its bound; times are
// only printed, because they depend on the machine. With -meter it measures whole requests
// through the local system. It writes the cost in dollars to docs/costs.md and the README,
// and the table of functions to docs/operation.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
	"github.com/rethread/rethread/infra/bench/price"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func main() {
	var what choice
	flag.BoolVar(&what.page, "page", false, "only write docs/costs.md from the recorded measures")
	flag.BoolVar(&what.units, "units", false, "do not measure times; write docs/costs.md from new measures")
	flag.BoolVar(&what.functions, "functions", false, "only measure the size, start and memory of each function")
	flag.BoolVar(&what.metered, "meter", false, "only measure whole requests through the local system, and record that")
	flag.BoolVar(&what.quick, "quick", false, "with -meter: measure after 10 turns only, and record nothing")
	flag.BoolVar(&what.speed, "speed", false, "only compare appends with bare conditional puts")
	flag.StringVar(&what.profile, "profile", "", "with -speed: the file for a profile of the processor's time")
	flag.StringVar(&what.only, "only", "", "with -speed: the beginning of the names of the scenarios to play; with -meter -quick: the part to play, such as stream")
	flag.Parse()
	ctx := context.Background()
	if err := run(ctx, os.Stdout, what); err != nil {
		slog.ErrorContext(ctx, "bench", "error", err)
		os.Exit(1)
	}
}

// choice is what to measure.
type choice struct {
	page, units, functions, metered, quick, speed bool
	profile, only                                 string
}

func run(ctx context.Context, out io.Writer, what choice) error {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	switch {
	case what.page:
		return price.Write(root)
	case what.metered && what.quick:
		plan := scenario.Full()
		plan.Histories, plan.Only = plan.Histories[:1], what.only
		_, err := meters(ctx, out, root, plan)
		return err
	case what.metered:
		return recordMeter(ctx, out, root)
	}
	template, err := loadTemplate(root)
	if err != nil {
		return err
	}
	switch {
	case what.speed:
		return speeds(ctx, out, template.Tables[0], what)
	case what.functions:
		return recordFunctions(ctx, out, root, template)
	}
	if err := record(ctx, out, root); err != nil || what.units {
		return err
	}
	if err := recordFunctions(ctx, out, root, template); err != nil {
		return err
	}
	return delays(ctx, out, root, template.Tables[0].Name)
}

func loadTemplate(root string) (*samtemplate.Template, error) {
	return samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://bench.invalid", "JwtAudience": "bench"},
	})
}

// record measures units, records them, and writes the page.
func record(ctx context.Context, out io.Writer, root string) error {
	rows, err := costs(ctx, out)
	if err != nil {
		return err
	}
	template, err := os.ReadFile(filepath.Join(root, "template.yaml")) //nolint:gosec // the repository's own
	if err != nil {
		return fmt.Errorf("count the metrics of alarms: %w", err)
	}
	measures, err := price.ReadFile(price.MeasuresFile(root))
	if err != nil {
		return err
	}
	if measures.Monitored, err = price.Monitoring(template); err != nil {
		return err
	}
	measures.Record(rows)
	if err := measures.WriteFile(price.MeasuresFile(root)); err != nil {
		return err
	}
	return price.Write(root)
}
