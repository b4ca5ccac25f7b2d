// Package e2e runs the whole system as it is deployed, on this machine: the real
// function binaries behind the local host. Its tests use plain HTTP and
// websockets.
package e2e

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/local/iam"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// System is a running system with its own empty database.
type System struct {
	URL          string
	WebSocketURL string
	LambdaURL    string
	EventsURL    string // of the events on the event bus
	Root         string // of the repository

	spec     *contract.Spec
	messages *contract.Messages
	options  host.Options // for a restart
	host     *host.Host
}

// Start builds and starts a system for the test, and stops it at the end. env is
// added to its environment, as NAME=value.
func Start(tb testing.TB, env ...string) *System {
	tb.Helper()
	root, err := repo.Root("")
	if err != nil {
		tb.Fatal(err)
	}
	s := &System{Root: root}
	if s.spec, err = contract.Load(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if s.messages, err = contract.LoadMessages(); err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	if err := build(tb.Context(), root, dir); err != nil {
		tb.Fatalf("build the system: %v", err)
	}
	s.options = host.Options{
		Binary: filepath.Join(dir, "local"), Root: root, Bin: filepath.Join(dir, "functions"),
		Grants: filepath.Join(dir, "grants.jsonl"), // of this system and of those that Another starts
		Data:   host.InMemory,
	}
	s.start(tb, env)
	return s
}

// Another starts a system of the same binaries with its own empty database.
func (s *System) Another(tb testing.TB, env ...string) *System {
	tb.Helper()
	other := *s
	other.start(tb, env)
	return &other
}

// Lasting is Another with data that survives a Restart.
func (s *System) Lasting(tb testing.TB, env ...string) *System {
	tb.Helper()
	other := *s
	other.options.Data = tb.TempDir()
	other.start(tb, env)
	return &other
}

// Of starts a system of the same binaries with its own empty database, from the
// template as changed by edit.
func (s *System) Of(tb testing.TB, edit func(template string) string, env ...string) *System {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(s.Root, "template.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	other := *s
	other.options.Template = filepath.Join(tb.TempDir(), "template.yaml")
	if err := os.WriteFile(other.options.Template, []byte(edit(string(text))), 0o600); err != nil {
		tb.Fatal(err)
	}
	other.start(tb, env)
	return &other
}

// Recorded is Another with complete logs of its functions.
func (s *System) Recorded(tb testing.TB, env ...string) (*System, *Record) {
	tb.Helper()
	other, record := *s, &Record{}
	other.start(tb, env, record)
	return &other, record
}

// start starts the host with an empty database.
func (s *System) start(tb testing.TB, env []string, records ...io.Writer) {
	tb.Helper()
	output := &host.Tail{}
	s.options.Output = io.MultiWriter(append(records, output)...)
	s.options.Env = slices.Concat(s.engine(tb), env)
	s.options.HTTP, s.options.WS = "", ""
	tb.Cleanup(func() {
		if s.host != nil {
			if err := s.host.Stop(); err != nil {
				tb.Error(err)
			}
		}
		if tb.Failed() {
			tb.Logf("the end of the local host's log:\n%s", output)
		}
	})
	s.run(tb)
}

// engine is the environment that selects a system's database: in the engine of all
// tests or, if it must survive a Restart, in an engine of its own.
func (s *System) engine(tb testing.TB) []string {
	tb.Helper()
	if s.options.Data != host.InMemory {
		return []string{dynamotest.EndpointVariable + "="}
	}
	return []string{dynamotest.EndpointVariable + "=" + dynamotest.Endpoint(tb), "DYNAMODB_ACCESS_KEY=" + rand.Text()}
}

func (s *System) run(tb testing.TB) {
	tb.Helper()
	h, err := host.Start(tb.Context(), s.options)
	if err != nil {
		tb.Fatalf("start the system: %v", err) // its log is printed at the end
	}
	s.host, s.URL, s.WebSocketURL, s.LambdaURL, s.EventsURL = h, h.URL, h.WebSocketURL, h.LambdaURL, h.EventsURL
}

// Restart stops a Lasting system at any moment, and starts it again with its data
// and addresses.
func (s *System) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.host.Stop(); err != nil {
		tb.Fatal(err)
	}
	s.options.HTTP, s.options.WS = strings.TrimPrefix(s.URL, "http://"), strings.TrimPrefix(s.WebSocketURL, "ws://")
	s.run(tb)
}

// Advance has time pass for everything in the system, hence only in one of a test's own:
// see docs/getting-started.md.
func (s *System) Advance(tb testing.TB, by time.Duration) {
	tb.Helper()
	if err := host.Advance(tb.Context(), s.URL, by); err != nil {
		tb.Fatal(err)
	}
}

// Uses stops the system and returns the uses of each permission of its functions,
// by it and by those systems of Another that have ended.
func (s *System) Uses(tb testing.TB) []iam.Use {
	tb.Helper()
	if err := s.host.Stop(); err != nil {
		tb.Fatal(err)
	}
	uses, err := readUses(s.options.Grants)
	if err != nil {
		tb.Fatal(err)
	}
	return uses
}

// KillWorkers kills the processes of a function like a crash, and returns how many
// there were.
func (s *System) KillWorkers(tb testing.TB, function string) int {
	tb.Helper()
	n, err := s.host.KillWorkers(tb.Context(), function)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
