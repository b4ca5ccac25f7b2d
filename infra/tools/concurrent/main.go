// Command concurrent prints the module's packages that share memory between
// goroutines: those that have the race detector in tests. With -not it prints all
// others.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/rethread/rethread/infra/tools/concurrent/memory"
)

func main() {
	not := flag.Bool("not", false, "print the packages that share nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *not, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, not bool, out io.Writer) error {
	packages, err := memory.List(ctx)
	if err != nil {
		return err
	}
	for _, p := range packages {
		shares, err := p.Shared()
		if err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		if shares == not {
			continue
		}
		if _, err := fmt.Fprintln(out, p.ImportPath); err != nil {
			return err
		}
	}
	return nil
}
