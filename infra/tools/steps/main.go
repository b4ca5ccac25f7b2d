// Command steps runs the proof of the checkout it is started in: the targets of the
// Makefile that budget.json lists, or some of them, by name.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/tools/steps/plan"
	"github.com/rethread/rethread/infra/tools/steps/play"
)

const budgets = "infra/tools/steps/budget.json"

var errUnknown = errors.New("there is no such step")

func main() {
	all := flag.Bool("all", false, "also run steps whose inputs have not changed since they passed")
	seed := flag.Bool("seed", false, "only print the seed of the tree")
	list := flag.Bool("list", false, "only print the names of the steps that would run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *all, *seed, *list, flag.Args(), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, all, seed, list bool, only []string, out io.Writer) error {
	budgeted, err := plan.Budgets(budgets)
	if err != nil {
		return err
	}
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("find the commit: %w", err)
	}
	p, err := plan.Make(ctx, ".", strings.TrimSpace(string(commit)), budgeted, all || len(only) > 0)
	if err != nil {
		return err
	}
	for _, name := range only {
		if !slices.ContainsFunc(p.Steps, func(s play.Step) bool { return s.Name == name }) {
			return fmt.Errorf("%s: %w", name, errUnknown)
		}
	}
	if len(only) > 0 {
		p.Steps = slices.DeleteFunc(p.Steps, func(s play.Step) bool { return !slices.Contains(only, s.Name) })
	}
	switch {
	case seed:
		_, err = fmt.Fprintln(out, p.Seed)
		return err
	case list:
		for _, s := range p.Steps {
			if s.Unchanged == "" {
				_, err = fmt.Fprintln(out, s.Name)
			}
		}
		return err
	}
	if _, err := fmt.Fprintf(out, "seed of the tree: SEED=%d\n", p.Seed); err != nil {
		return err
	}
	err = play.All(ctx, p.Steps, play.Command("env", fmt.Sprintf("SEED=%d", p.Seed), "make", "-s", "--no-print-directory"), out)
	if err != nil || all {
		return err // a release needs its tree as it is
	}
	return p.Keep()
}
