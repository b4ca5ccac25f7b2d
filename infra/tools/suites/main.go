// Command suites prints the arguments of `go test` for a part of the module's tests.
// suite/suites.txt says what runs where.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/rethread/rethread/infra/tools/suites/packages"
	"github.com/rethread/rethread/infra/tools/suites/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: suites %s", strings.Join(suite.Names(), "|"))
	}
	list, err := suite.Load()
	if err != nil {
		return err
	}
	all, err := packages.List(ctx)
	if err != nil {
		return err
	}
	part, err := list.Part(args[0], all)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, strings.Join(part.Arguments(), " "))
	return err
}
