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

// browserClient is the folder of the browser client.
const browserClient = "../../js"

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
	t.Log(mustNode(t, "replay.js", file))
}

func TestBrowserClientPassesItsOwnTests(t *testing.T) {
	mustNode(t, "--test")
}

func mustNode(t *testing.T, arguments ...string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: install Node.js 20 or newer, which runs the browser client")
	}
	cmd := exec.CommandContext(t.Context(), node, arguments...)
	cmd.Dir = browserClient
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}
