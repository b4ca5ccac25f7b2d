package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// testGoClient uses the client in Go, by its source and as others install it.
func testGoClient(t *testing.T, sys *e2e.System) {
	t.Helper()
	run(t, sys,
		group{"sessions and events", testGoSessions},
		group{"runs that are watched, and a rewind", testGoRuns},
		group{"artifacts, tasks and feedback", testGoFiles},
		group{"shares", testGoShares},
		group{"webhooks and automations", testGoHooks},
		group{"exports and imports", testGoArchive},
		group{"the README's program as a module of its own", testGoModule("clients/go/README.md")},
		group{"the program of docs/clients.md as a module of its own", testGoModule("docs/clients.md")},
	)
}

// goClient returns a client of a new user, whose calls are checked against the contract.
func goClient(t *testing.T, sys *e2e.System, name string) (*rethread.Client, *e2e.User) {
	t.Helper()
	u := sys.User(t, name)
	client, err := rethread.New(rethread.Config{URL: sys.URL, Token: rethread.StaticToken(u.Token), HTTP: u.HTTP()})
	if err != nil {
		t.Fatal(err)
	}
	return client, u
}

// must returns the result of a call, which must succeed.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// goModule is a module that uses the client in a folder, as if it were downloaded.
const goModule = `module example.com/trips

go %s

require github.com/rethread/rethread/clients/go v%s

replace github.com/rethread/rethread/clients/go => %s
`

// testGoModule builds a document's first program in an otherwise empty folder and runs
// it. No other module may be needed.
func testGoModule(document string) func(*testing.T, *e2e.System) {
	return func(t *testing.T, sys *e2e.System) {
		t.Helper()
		source := strings.ReplaceAll(mustBlocks(t, mustReadDocuments(t, document), "go")[0], "http://127.0.0.1:3000", sys.URL)
		folder := mustGoFolder(t, filepath.Join(sys.Root, "clients", "go"), source)
		token, err := host.Token(t.Context(), sys.URL, filepath.Base(folder))
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for _, promise := range regexp.MustCompile(`(?m)^// prints (.*)$`).FindAllStringSubmatch(source, -1) {
			want.WriteString(promise[1] + "\n")
		}
		if got := mustGo(t, folder, []string{"RETHREAD_TOKEN=" + token}, "run", "."); got != want.String() || got == "" {
			t.Errorf("it prints %q, not %q", got, want.String())
		}
		for _, name := range strings.Fields(mustGo(t, folder, nil, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")) {
			if !strings.HasPrefix(name, "github.com/rethread/rethread/clients/go") && name != "example.com/trips" {
				t.Errorf("it is built with %s", name)
			}
		}
	}
}

// mustGoFolder returns a folder with nothing but a program, in a module that uses the
// client as if it were downloaded.
func mustGoFolder(t *testing.T, client, source string) string {
	t.Helper()
	folder := t.TempDir()
	version := regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(mustReadDocuments(t, "clients/go/go.mod"))[1]
	released := strings.TrimSpace(mustReadDocuments(t, "VERSION"))
	for name, text := range map[string]string{"go.mod": fmt.Sprintf(goModule, version, released, client), "main.go": source} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// mustGo runs a command of Go in a folder, without the network, and returns what it
// prints. The paths are trimmed as in all builds, so that the standard library comes from
// the build cache.
func mustGo(t *testing.T, folder string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), append(env, "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")...)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, problem.String())
	}
	return string(out)
}

// watchGo calls use with each state of a session that the client shows, until use
// returns true.
func watchGo(ctx context.Context, t *testing.T, client *rethread.Client, session string, use func(rethread.Watched) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, e2e.Patience)
	defer cancel()
	for watched, err := range client.Watch(ctx, session) {
		if err != nil {
			t.Fatal(err)
		}
		if use(watched) {
			return
		}
	}
}

func goTexts(events []rethread.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Text())
	}
	return strings.Join(out, " | ")
}
