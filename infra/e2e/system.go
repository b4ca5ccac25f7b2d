// Package e2e runs the whole system, as it deploys, on this machine: the real
// function binaries behind the local host. Its tests speak plain HTTP.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/e2e/host"
	"github.com/rethread/rethread/infra/local/repo"
)

// System is a running system with an empty database of its own.
type System struct {
	URL       string
	LambdaURL string
	Root      string // of the repository
	spec      *contract.Spec
}

// Start builds and starts a system for the test, and stops it at the end.
func Start(tb testing.TB) *System {
	tb.Helper()
	root, err := repo.Root("")
	if err != nil {
		tb.Fatal(err)
	}
	spec, err := contract.Load(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	if err := build(tb.Context(), root, dir); err != nil {
		tb.Fatal(err)
	}
	output := &host.Tail{}
	h, err := host.Start(tb.Context(), host.Options{
		Binary: filepath.Join(dir, "local"), Root: root, Output: output,
		Data: filepath.Join(dir, "data"), Bin: filepath.Join(dir, "functions"),
	})
	if err != nil {
		tb.Fatalf("%v\n%s", err, output)
	}
	tb.Cleanup(func() {
		if err := h.Stop(); err != nil {
			tb.Error(err)
		}
		if tb.Failed() {
			tb.Logf("the end of the local host's log:\n%s", output)
		}
	})
	return &System{URL: h.URL, LambdaURL: h.LambdaURL, Root: root, spec: spec}
}

// build makes the local host and every function's bootstrap in dir.
func build(ctx context.Context, root, dir string) error {
	flags := []string{"build", "-tags=lambda.norpc", "-trimpath", "-o", dir + "/", "./functions/...", "./infra/local"}
	cmd := exec.CommandContext(ctx, "go", flags...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the system: %w\n%s", err, out)
	}
	functions, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil {
		return fmt.Errorf("list the functions: %w", err)
	}
	for _, main := range functions {
		name := filepath.Base(filepath.Dir(main))
		into := filepath.Join(dir, "functions", name)
		if err := os.MkdirAll(into, 0o755); err != nil {
			return fmt.Errorf("build %s: %w", name, err)
		}
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(into, "bootstrap")); err != nil {
			return fmt.Errorf("build %s: %w", name, err)
		}
	}
	return nil
}
