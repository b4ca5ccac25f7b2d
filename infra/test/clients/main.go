// Command clients runs the official clients of the protocols that Rethread speaks
// against a new local system whose agent is scripted. Each client plays a story
// in a process of its own and prints how many checks it made; a client that is
// not installed fails. README.md beside it says how to add one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/clients/script"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

func main() {
	binary := flag.String("host", "build/rethread-local", "the built local host")
	only := flag.String("only", "", "part of the names of the stories to run")
	tck := flag.String("tck", "", "folder of the A2A TCK, to run that instead of the stories; its own arguments follow")
	version := flag.String("tck-version", "1.0", "the version of A2A that the TCK tests: 1.0 or 0.3")
	python := flag.String("python", "python3", "a Python with what the TCK needs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := withSystem(ctx, *binary, func(root, url string) error {
		if *tck != "" {
			return runTCK(ctx, *tck, *version, *python, url, flag.Args())
		}
		return playSome(ctx, root, url, *only)
	})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

// withSystem calls do while a system with the scripted agent runs.
func withSystem(ctx context.Context, binary string, do func(root, url string) error) (err error) {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	agent := script.Serve()
	defer agent.Close()
	logFile, err := os.Create(filepath.Join(root, "build", "clients.log"))
	if err != nil {
		return fmt.Errorf("make a file for the host's log: %w", err)
	}
	h, err := host.Start(ctx, host.Options{
		Binary: binary, Root: root, Data: host.InMemory, Output: logFile,
		Env: []string{"AGENTS=" + agents(agent.URL), "LOG_LEVEL=info"},
	})
	if err != nil {
		return fmt.Errorf("%w (log: %s)", err, logFile.Name())
	}
	defer func() { err = errors.Join(err, h.Stop(), logFile.Close()) }()
	return do(root, h.URL)
}

// playSome plays the stories whose names contain a text.
func playSome(ctx context.Context, root, url, only string) error {
	var chosen []story
	for _, s := range stories() {
		if strings.Contains(s.name, only) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no story has %q in its name", only)
	}
	return play(ctx, root, url, os.Stdout, chosen)
}

// agents returns the configuration of the scripted agent, under two names: one
// has a namespace.
func agents(url string) string {
	return fmt.Sprintf(`{"default":{"type":"http","url":%[1]q},"scripted":{"type":"http","url":%[1]q},"team/scripted":{"type":"http","url":%[1]q}}`, url)
}
