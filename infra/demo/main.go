// Command demo tells a short story through the API: two users ask, an agent
// answers, and after a reload everything is still there. It uses the system at
// RETHREAD_URL and RETHREAD_WS_URL, or the local one, or starts its own.
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

// addresses is the addresses of a system.
type addresses struct{ url, sockets string }

func defaultAddresses() addresses { return addresses{"http://127.0.0.1:3000", "ws://127.0.0.1:3001"} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, addresses{os.Getenv("RETHREAD_URL"), os.Getenv("RETHREAD_WS_URL")})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, at addresses) (err error) {
	at.sockets = cmp.Or(at.sockets, defaultAddresses().sockets)
	stays := true // the system, after the demo
	switch {
	case at.url != "":
		if !host.Answers(ctx, at.url) {
			return fmt.Errorf("no answer from RETHREAD_URL, %s: %w", at.url, errNoSystem)
		}
	case host.Answers(ctx, defaultAddresses().url):
		at.url = defaultAddresses().url
	default:
		stays = false
		own, stop, startErr := start(ctx, out)
		if startErr != nil {
			return startErr
		}
		defer func() { err = errors.Join(err, stop()) }()
		at = own
	}
	return runStory(ctx, &printer{out: out}, at, stays)
}

var errNoSystem = errors.New("start one with `make run`, or leave the variable empty")

// start runs a system for the demo, with an empty database.
func start(ctx context.Context, out io.Writer) (at addresses, stop func() error, err error) {
	root, err := repo.Root("")
	if err != nil {
		return addresses{}, nil, err
	}
	data, err := os.MkdirTemp("", "rethread-demo-")
	if err != nil {
		return addresses{}, nil, fmt.Errorf("make a folder for the demo's data: %w", err)
	}
	if _, err := fmt.Fprintln(out, "Starting a system for the demo …"); err != nil {
		return addresses{}, nil, err
	}
	log := &host.Tail{}
	h, err := host.Start(ctx, host.Options{
		Binary: filepath.Join(root, "build", "rethread-local"), Root: root, Data: data, Output: log,
	})
	if err != nil {
		return addresses{}, nil, errors.Join(fmt.Errorf("%w\n%s", err, log), os.RemoveAll(data))
	}
	return addresses{h.URL, h.WebSocketURL}, func() error { return errors.Join(h.Stop(), os.RemoveAll(data)) }, nil
}
