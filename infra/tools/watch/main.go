// Command watch prints a session as it happens: `make watch SESSION=…`. It watches
// the system at RETHREAD_URL, by default the local one, as RETHREAD_USER or with
// RETHREAD_TOKEN.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/infra/test/e2e/host"
	"github.com/rethread/rethread/infra/tools/watch/transcript"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "watch:", err)
		os.Exit(1)
	}
}

var errNoSession = errors.New("no session given: make watch SESSION=…")

// run watches until ctx ends, the session is deleted, or the watch fails.
func run(ctx context.Context, args []string, out, problems io.Writer) error {
	flags := flag.NewFlagSet("watch", flag.ContinueOnError)
	flags.SetOutput(problems)
	session := flags.String("session", os.Getenv("SESSION"), "id of the session")
	url := flags.String("http", env("RETHREAD_URL", "http://127.0.0.1:3000"), "address of the system")
	user := flags.String("user", env("RETHREAD_USER", "alice"), "user who watches, if the system issues tokens itself")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *session == "" {
		return errNoSession
	}
	c := watch.Open(ctx, watch.Config{
		URL: *url,
		Token: func(ctx context.Context, _ string) (string, error) {
			if token := os.Getenv("RETHREAD_TOKEN"); token != "" {
				return token, nil
			}
			return host.Token(ctx, *url, *user)
		},
		Log: slog.New(slog.NewTextHandler(problems, nil)),
	})
	defer c.Close()
	p := transcript.New(out)
	err := c.Watch(ctx, *session, p.Print)
	if errors.Is(err, context.Canceled) {
		return p.Err() // Ctrl-C
	}
	return errors.Join(err, p.Err())
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
