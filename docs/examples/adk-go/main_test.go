package main_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// TestExample runs the example against the whole local system.
func TestExample(t *testing.T) {
	t.Parallel()
	system := e2e.Start(t)
	token, err := host.Token(t.Context(), system.URL, "alice")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Env = append(os.Environ(), "RETHREAD_URL="+system.URL, "RETHREAD_TOKEN="+token)
	out, err := cmd.CombinedOutput()
	want := `roses: ordered so far: roses
tulips: ordered so far: roses, tulips
after the rewind: 4 events, state roses, invoice "1 bunch of roses"
lilies: ordered so far: roses, lilies
in the end: 8 events, state lilies, invoice "1 bunch of lilies"
`
	if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
