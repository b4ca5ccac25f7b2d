// Package localtest builds programs and runs the local system in tests.
package localtest

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/rethread/rethread/infra/local/host"
	"github.com/rethread/rethread/infra/local/repo"
)

// Build builds the program in a folder with the flags for functions, and returns
// target.
func Build(t *testing.T, source, target string) string {
	t.Helper()
	if err := repo.Build(t.Context(), "", target, source); err != nil {
		t.Fatal(err)
	}
	return target
}

// Start runs the system of testdata/template.yaml, whose functions were built into
// bin, until the test ends. Its data is in the folder data, or in memory if data
// is "".
func Start(t *testing.T, bin, data string) *host.System {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	template, err := filepath.Abs("testdata/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	system, err := host.Start(t.Context(), host.Options{
		Root: root, Template: template, Bin: bin, Data: data,
		HTTPAddress: "127.0.0.1:0", Output: io.Discard, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(system.Close)
	return system
}
