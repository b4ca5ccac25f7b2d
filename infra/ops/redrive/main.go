// Command redrive sends back dead letters: `make redrive` for the local system or
// the one at RETHREAD_URL, `make redrive STACK=…` for one in AWS. QUEUE is
// abandoned or failures, by default both; DRY=1 only lists; DROP=1 deletes letters
// that can never be sent back. It exits with status 1 if letters remain.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/infra/ops/redrive/deadletter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "redrive:", err)
		os.Exit(1)
	}
}

var (
	errQueue     = errors.New("QUEUE is abandoned or failures")
	errServices  = errors.New("only its address is known: name its stack with STACK=…")
	errRemaining = errors.New("the remaining letters stay in their queue until they are 14 days old")
)

func run(ctx context.Context, args []string, out, problems io.Writer) error {
	var at deployment.Location
	office := deadletter.Redriver{}
	flags := flag.NewFlagSet("redrive", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.StringVar(&at.Stack, "stack", os.Getenv("STACK"), "name of the stack in AWS")
	flags.StringVar(&at.URL, "http", cmp.Or(os.Getenv("RETHREAD_URL"), "http://127.0.0.1:3000"), "address of the HTTP API, without a stack")
	queue := flags.String("queue", os.Getenv("QUEUE"), "abandoned or failures; empty means both")
	flags.BoolVar(&office.DryRun, "dry", os.Getenv("DRY") != "", "only list the letters")
	flags.BoolVar(&office.DropGone, "drop", os.Getenv("DROP") != "", "delete letters that can never be sent back")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at.URL = strings.TrimSuffix(at.URL, "/")
	queues, err := chosenQueues(*queue)
	if err != nil {
		return err
	}
	if office.Deployment, err = deployment.Find(ctx, at); err != nil {
		return err
	}
	if office.Services == nil {
		return fmt.Errorf("%s: %w", at.URL, errServices)
	}
	return empty(ctx, &office, queues, out)
}

// chosenQueues are the queues to empty.
func chosenQueues(name string) ([]string, error) {
	all := []string{deadletter.Abandoned, deadletter.Failures}
	if name == "" {
		return all, nil
	}
	for _, queue := range all {
		if strings.EqualFold(queue, name) {
			return []string{queue}, nil
		}
	}
	return nil, fmt.Errorf("%w, got %q", errQueue, name)
}

// empty empties queues, one after the other, and prints a line for each letter.
func empty(ctx context.Context, office *deadletter.Redriver, queues []string, out io.Writer) error {
	var printed error
	printf := func(format string, args ...any) {
		if printed == nil {
			_, printed = fmt.Fprintf(out, format, args...)
		}
	}
	counts := map[deadletter.Outcome]int{}
	office.Report = func(l deadletter.Letter) {
		counts[l.Outcome]++
		printf("  %-5s %s\n", l.Outcome, l.What)
		if l.Reason != "" {
			printf("        %s\n", l.Reason)
		}
	}
	printf("%s\n", office.Name)
	for _, queue := range queues {
		n, err := office.Count(ctx, queue)
		if err != nil {
			return err
		}
		printf("%s: about %s\n", queue, n)
		if err := office.Empty(ctx, queue); err != nil {
			return err
		}
	}
	if office.DryRun {
		printf("%d could be sent back, %d could not\n", counts[deadletter.Seen], counts[deadletter.Left])
		return printed
	}
	printf("%d sent back, %d left, %d gone\n", counts[deadletter.Sent], counts[deadletter.Left], counts[deadletter.Gone])
	if counts[deadletter.Left] > 0 {
		return errors.Join(printed, errRemaining)
	}
	return printed
}
