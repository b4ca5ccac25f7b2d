// Command bench prints what the operations of the store cost in capacity
// units, over histories of growing length, and how long tokens take to their
// watchers. It fails where an operation costs more than it may; times are
// printed only, since they are this machine's.
package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/samtemplate"
)

func main() {
	ctx := context.Background()
	if err := run(ctx, os.Stdout); err != nil {
		slog.ErrorContext(ctx, "bench", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://bench.invalid", "JwtAudience": "bench"},
	})
	if err != nil {
		return err
	}
	if err := costs(ctx, out, template.Tables[0]); err != nil {
		return err
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		return err
	}
	return delays(ctx, out, root, template.Tables[0].Name)
}
