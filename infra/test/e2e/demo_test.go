package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testDemo runs `make demo` against the running system.
func testDemo(t *testing.T, sys *e2e.System) {
	t.Helper()
	demo := func(t *testing.T, url string) (string, error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), sys.Program("demo"))
		cmd.Dir = sys.Root
		cmd.Env = append(os.Environ(), "RETHREAD_URL="+url)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Run("the story succeeds", func(t *testing.T) {
		out, err := demo(t, sys.URL)
		if err != nil || !strings.Contains(out, "Everything is as expected.\nOpen "+sys.URL+"/console/s/") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("fails with a message without a system", func(t *testing.T) {
		out, err := demo(t, sys.LambdaURL)
		if err == nil || !strings.Contains(out, "no answer from RETHREAD_URL") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
