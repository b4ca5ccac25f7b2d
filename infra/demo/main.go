// Command demo tells a short story through the API: two people ask, an agent
// answers, and after a reload everything is there as it was. It uses the system
// that RETHREAD_URL and RETHREAD_WS_URL name, the one that runs on this machine,
// or starts its own.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// place is where a system answers.
type place struct{ url, sockets string }

func usual() place { return place{"http://127.0.0.1:3000", "ws://127.0.0.1:3001"} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, place{os.Getenv("RETHREAD_URL"), os.Getenv("RETHREAD_WS_URL")})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, at place) (err error) {
	at.sockets = cmp.Or(at.sockets, usual().sockets)
	switch {
	case at.url != "":
		if !host.Answers(ctx, at.url) {
			return fmt.Errorf("RETHREAD_URL is %s, and nothing answers there: %w", at.url, errNoSystem)
		}
	case host.Answers(ctx, usual().url):
		at.url = usual().url
	default:
		own, stop, startErr := start(ctx, out)
		if startErr != nil {
			return startErr
		}
		defer func() { err = errors.Join(err, stop()) }()
		at = own
	}
	return tell(ctx, &printer{out: out}, at)
}

var errNoSystem = errors.New("start one with `make run`, or leave the variable empty")

// start runs a system of the demo's own, with an empty database.
func start(ctx context.Context, out io.Writer) (at place, stop func() error, err error) {
	root, err := repo.Root("")
	if err != nil {
		return place{}, nil, err
	}
	data, err := os.MkdirTemp("", "rethread-demo-")
	if err != nil {
		return place{}, nil, fmt.Errorf("make a folder for the demo's data: %w", err)
	}
	if _, err := fmt.Fprintln(out, "Starting a system for the demo …"); err != nil {
		return place{}, nil, err
	}
	log := &host.Tail{}
	h, err := host.Start(ctx, host.Options{
		Binary: filepath.Join(root, "build", "rethread-local"), Root: root, Data: data, Output: log,
	})
	if err != nil {
		return place{}, nil, errors.Join(fmt.Errorf("%w\n%s", err, log), os.RemoveAll(data))
	}
	return place{h.URL, h.WebSocketURL}, func() error { return errors.Join(h.Stop(), os.RemoveAll(data)) }, nil
}
