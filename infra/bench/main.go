// Command bench prints the capacity units of the store's operations, over
// histories of growing length, and the delay of tokens to their watchers. It fails
// if an operation exceeds its bound; times are only printed, because they depend
// on the machine. It writes the cost in dollars to docs/costs.md.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rethread/rethread/infra/bench/price"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func main() {
	page := flag.Bool("page", false, "only write docs/costs.md from the recorded measures")
	units := flag.Bool("units", false, "do not measure times; write docs/costs.md from new measures")
	flag.Parse()
	ctx := context.Background()
	if err := run(ctx, os.Stdout, *page, *units); err != nil {
		slog.ErrorContext(ctx, "bench", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, page, units bool) error {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	if page {
		return writePage(root)
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://bench.invalid", "JwtAudience": "bench"},
	})
	if err != nil {
		return err
	}
	if err := record(ctx, out, root, template.Tables[0]); err != nil || units {
		return err
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		return err
	}
	return delays(ctx, out, root, template.Tables[0].Name)
}

// record measures units, records them, and writes the page.
func record(ctx context.Context, out io.Writer, root string, table samtemplate.Table) error {
	rows, err := costs(ctx, out, table)
	if err != nil {
		return err
	}
	template, err := os.ReadFile(filepath.Join(root, "template.yaml")) //nolint:gosec // the repository's own
	if err != nil {
		return fmt.Errorf("count the metrics of alarms: %w", err)
	}
	measures := price.Record(rows, bytes.Count(template, []byte("MetricName:")))
	if err := measures.WriteFile(recorded(root)); err != nil {
		return err
	}
	return writePage(root)
}

func writePage(root string) error {
	measures, err := price.ReadFile(recorded(root))
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := price.Page(&page, measures); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "costs.md"), page.Bytes(), 0o644); err != nil { //nolint:gosec // all may read it
		return fmt.Errorf("write the page of costs: %w", err)
	}
	return nil
}

func recorded(root string) string {
	return filepath.Join(root, "infra", "bench", "price", "measures.json")
}
