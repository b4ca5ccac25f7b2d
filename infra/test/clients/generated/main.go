// Command generated makes clients of infra/openapi.yaml with the generators that
// people use, compiles them strictly, and has each tell one story to a new local
// system: a session, runs, its thread, a task, an artifact, a fork and a rewind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/clients/generated/toolbox"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

func main() {
	binary := flag.String("host", "build/rethread-local", "the built local host")
	tools := flag.String("tools", ".tools", "the folder with openapi-generator-cli.jar")
	only := flag.String("only", "", "a language: go, python or typescript; empty means all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *binary, *tools, *only, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generated clients:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, tools, only string, out io.Writer) (err error) {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	if tools, err = filepath.Abs(tools); err != nil {
		return fmt.Errorf("find the tools: %w", err)
	}
	logFile, err := os.Create(filepath.Join(root, "build", "generated-clients.log"))
	if err != nil {
		return fmt.Errorf("make a file for the host's log: %w", err)
	}
	h, err := host.Start(ctx, host.Options{Binary: binary, Root: root, Data: host.InMemory, Output: logFile})
	if err != nil {
		return fmt.Errorf("%w (log: %s)", err, logFile.Name())
	}
	defer func() { err = errors.Join(err, h.Stop(), logFile.Close()) }()

	told := 0
	group, ctx := errgroup.WithContext(ctx)
	for _, language := range toolbox.Languages() {
		if only != "" && only != language.Name {
			continue
		}
		told += len(language.Clients)
		bench := bench{
			language: language, url: h.URL, tools: tools, out: out,
			source: filepath.Join(root, "infra", "test", "clients", "generated", language.Name),
			dir:    filepath.Join(root, "build", "generated-clients", language.Name),
			spec:   filepath.Join(root, "infra", "openapi.yaml"),
		}
		group.Go(func() error { return bench.run(ctx) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("%w (log of the host: %s)", err, logFile.Name())
	}
	if told == 0 {
		return fmt.Errorf("there are no clients in the language %q", only)
	}
	_, err = fmt.Fprintf(out, "%d generated clients told the story, %d steps each\n", told, len(steps()))
	return err
}
