// Command redrive sends back what was given up: `make redrive` for the system
// that runs here or that RETHREAD_URL names, `make redrive STACK=…` for one in
// AWS. QUEUE is abandoned or failures, both unless given; DRY=1 looks only; DROP=1
// deletes what can never be sent back. It ends with status 1 where something stays
// that was to go.
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
	errQueue    = errors.New("QUEUE is abandoned or failures")
	errServices = errors.New("only its address is known: name its stack with STACK=…")
	errStays    = errors.New("what is left stays in its queue, until it is 14 days old")
)

func run(ctx context.Context, args []string, out, problems io.Writer) error {
	var at deployment.Place
	office := deadletter.Office{}
	flags := flag.NewFlagSet("redrive", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.StringVar(&at.Stack, "stack", os.Getenv("STACK"), "name of the stack in AWS")
	flags.StringVar(&at.URL, "http", cmp.Or(os.Getenv("RETHREAD_URL"), "http://127.0.0.1:3000"), "address of the HTTP API, without a stack")
	queue := flags.String("queue", os.Getenv("QUEUE"), "abandoned or failures; both unless given")
	flags.BoolVar(&office.Dry, "dry", os.Getenv("DRY") != "", "look only")
	flags.BoolVar(&office.DropGone, "drop", os.Getenv("DROP") != "", "delete what can never be sent back")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at.URL = strings.TrimSuffix(at.URL, "/")
	queues, err := chosen(*queue)
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

// chosen are the queues to empty.
func chosen(name string) ([]string, error) {
	all := []string{deadletter.Abandoned, deadletter.Failures}
	if name == "" {
		return all, nil
	}
	for _, queue := range all {
		if strings.EqualFold(queue, name) {
			return []string{queue}, nil
		}
	}
	return nil, fmt.Errorf("%w, not %q", errQueue, name)
}

// empty empties queues, one after the other, and prints a line for each letter.
func empty(ctx context.Context, office *deadletter.Office, queues []string, out io.Writer) error {
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
	if office.Dry {
		printf("%d could be sent back, %d could not\n", counts[deadletter.Seen], counts[deadletter.Left])
		return printed
	}
	printf("%d sent back, %d left, %d gone\n", counts[deadletter.Sent], counts[deadletter.Left], counts[deadletter.Gone])
	if counts[deadletter.Left] > 0 {
		return errors.Join(printed, errStays)
	}
	return printed
}
