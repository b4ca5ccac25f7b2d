// Command demo tells a short story through the API: two users ask, an agent
// answers, and after a reload everything is still there. It uses the system at
// RETHREAD_URL, or the local one, or starts its own.
package main

import (
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

// local is the address of the local system.
const local = "http://127.0.0.1:3000"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Getenv("RETHREAD_URL"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, at string) (err error) {
	stays := true // the system, after the demo
	switch {
	case at != "":
		if !host.Answers(ctx, at) {
			return fmt.Errorf("no answer from RETHREAD_URL, %s: %w", at, errNoSystem)
		}
	case host.Answers(ctx, local):
		at = local
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
func start(ctx context.Context, out io.Writer) (at string, stop func() error, err error) {
	root, err := repo.Root("")
	if err != nil {
		return "", nil, err
	}
	data, err := os.MkdirTemp("", "rethread-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the demo's data: %w", err)
	}
	if _, err := fmt.Fprintln(out, "Starting a system for the demo …"); err != nil {
		return "", nil, err
	}
	log := &host.Tail{}
	h, err := host.Start(ctx, host.Options{
		Binary: filepath.Join(root, "build", "rethread-local"), Root: root, Data: data, Output: log,
	})
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("%w\n%s", err, log), os.RemoveAll(data))
	}
	return h.URL, func() error { return errors.Join(h.Stop(), os.RemoveAll(data)) }, nil
}
