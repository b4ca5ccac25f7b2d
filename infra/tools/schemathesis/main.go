// Command schemathesis tests a new local system with requests generated from
// infra/openapi.yaml. schemathesis.toml beside it is the configuration.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

func main() {
	program := flag.String("program", ".venv/bin/schemathesis", "the schemathesis program")
	binary := flag.String("host", "build/rethread-local", "the built local host")
	seed := flag.Uint("seed", 1, "the seed of the requests")
	examples := flag.Uint("examples", 100, "how many requests of each kind an operation gets at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *program, *binary, append([]string{"--seed", fmt.Sprint(*seed), "--max-examples", fmt.Sprint(*examples)}, flag.Args()...))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract test:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, binary string, extra []string) (err error) {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	logFile, err := os.Create(filepath.Join(root, "build", "contract-test.log"))
	if err != nil {
		return fmt.Errorf("make a file for the host's log: %w", err)
	}
	h, err := host.Start(ctx, host.Options{Binary: binary, Root: root, Data: host.InMemory, Output: logFile})
	if err != nil {
		return fmt.Errorf("%w (log: %s)", err, logFile.Name())
	}
	defer func() { err = errors.Join(err, h.Stop(), logFile.Close()) }()
	token, err := host.Token(ctx, h.URL, "schemathesis")
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return fmt.Errorf("find schemathesis: %w", err)
	}
	here := filepath.Join(root, "infra", "tools", "schemathesis")
	args := []string{
		"--config-file", filepath.Join(here, "schemathesis.toml"),
		"run", filepath.Join(root, "infra", "openapi.yaml"),
		"--url", h.URL + "/api/v1", "--header", "Authorization: Bearer " + token,
	}
	cmd := exec.CommandContext(ctx, program, append(args, extra...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(root, "build"), os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "SCHEMATHESIS_HOOKS=hooks", "PYTHONPATH="+here)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("schemathesis found faults (log of the host: %s): %w\n%s", logFile.Name(), err, lastErrors(logFile.Name()))
	}
	return nil
}
