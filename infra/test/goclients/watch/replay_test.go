package watch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
)

const (
	// browserClient is the folder of the browser client.
	browserClient = "../../../../clients/js"
	// builtClient is what its programs import.
	builtClient = browserClient + "/dist/index.js"
)

// The browser client has the same rules: replaying this client's schedules, it
// reaches the same state after each step.
func TestBrowserClientReplaysSchedules(t *testing.T) {
	var schedules []*schedule
	property.CheckN(t, 300, func(r *rapid.T) {
		if w := checkSchedule(r, true); w.trace.Final.Items != nil {
			schedules = append(schedules, w.trace)
		}
	})
	file := filepath.Join(t.TempDir(), "schedules.json")
	if err := os.WriteFile(file, mustJSON(schedules), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Log(mustNode(t, "test/replay.js", file))
}

func TestBrowserClientPassesItsOwnTests(t *testing.T) {
	mustNode(t, "--test", "test/watch.test.js", "test/access.test.js")
}

// mustFindNode returns the program that runs the built browser client.
func mustFindNode(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(builtClient); err != nil {
		t.Fatalf("the browser client is not built: make clients/js/dist/index.js (%v)", err)
	}
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: install Node.js 20 or newer, which runs the browser client")
	}
	return program
}

func mustNode(t *testing.T, arguments ...string) string {
	t.Helper()
	node := mustFindNode(t)
	cmd := exec.CommandContext(t.Context(), node, arguments...)
	cmd.Dir = browserClient
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}
