package watch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// browserClient is where the client for browsers is.
const browserClient = "../../js"

// The client for browsers follows the same rules: of whatever this one met, it
// makes the same, step by step.
func TestTheBrowsersClientDoesTheSame(t *testing.T) {
	var schedules []*schedule
	for range 3 { // times 100
		rapid.Check(t, func(r *rapid.T) {
			if w := checkSchedule(r, true); w.trace.Final.Items != nil {
				schedules = append(schedules, w.trace)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "schedules.json")
	if err := os.WriteFile(file, mustJSON(schedules), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Log(mustNode(t, "replay.js", file))
}

func TestTheBrowsersClientPassesItsOwnTests(t *testing.T) {
	mustNode(t, "--test")
}

func mustNode(t *testing.T, arguments ...string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: install Node.js 20 or newer, which runs the client for browsers")
	}
	cmd := exec.CommandContext(t.Context(), node, arguments...)
	cmd.Dir = browserClient
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}
