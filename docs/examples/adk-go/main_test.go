package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// module is one that uses the packages as if they were downloaded.
const module = `module example.com/florist

go 1.26

require (
	github.com/rethread/rethread/clients/go v%[1]s
	github.com/rethread/rethread/clients/go/adk v%[1]s
)

replace (
	github.com/rethread/rethread/clients/go => %[2]s/clients/go
	github.com/rethread/rethread/clients/go/adk => %[2]s/clients/go/adk
)
`

// newModule returns a folder with nothing but the example, as a module of its own.
func newModule(t *testing.T, root string) string {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	files := map[string]string{
		"go.mod": fmt.Sprintf(module, strings.TrimSpace(read(filepath.Join(root, "VERSION"))), root),
		"go.sum": read(filepath.Join(root, "go.sum")),
	}
	for _, name := range []string{"main.go", "script.go", "invoice.go"} {
		files[name] = read(name)
	}
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestExample runs the example against the whole local system.
func TestExample(t *testing.T) {
	t.Parallel()
	system := e2e.Start(t)
	token, err := host.Token(t.Context(), system.URL, "alice")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = newModule(t, system.Root)
	cmd.Env = append(os.Environ(), "RETHREAD_URL="+system.URL, "RETHREAD_TOKEN="+token,
		"GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
	var problem strings.Builder // and what is downloaded
	cmd.Stderr = &problem
	out, err := cmd.Output()
	want := `roses: ordered so far: roses
tulips: ordered so far: roses, tulips
after the rewind: 4 events, state roses, invoice "1 bunch of roses"
lilies: ordered so far: roses, lilies
in the end: 8 events, state lilies, invoice "1 bunch of lilies"
`
	if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s\n%s", err, diff, problem.String())
	}
}
