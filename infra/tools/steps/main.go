// Command steps runs targets of the Makefile side by side, and prints the output of
// each when it has ended.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/rethread/rethread/infra/tools/steps/play"
)

func main() {
	atOnce := flag.Int("at-once", 2, "how many targets to run at the same time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var steps []play.Step
	for _, target := range flag.Args() {
		steps = append(steps, play.Step{Name: target, Command: []string{"make", "-s", "--no-print-directory", target}})
	}
	began := time.Now()
	err := play.All(ctx, steps, max(1, *atOnce), os.Stdout)
	stop()
	if err == nil {
		_, err = fmt.Fprintf(os.Stdout, "%d steps passed in %.0f s\n", len(steps), time.Since(began).Seconds())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}
