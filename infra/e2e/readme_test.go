package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/e2e"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The README's commands do what it says: each `# prints x` must be in the
// output of the command before it.
func TestReadme(t *testing.T) {
	t.Parallel()
	system := e2e.Start(t)
	readme, err := os.ReadFile(filepath.Join(system.Root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -eu\n")
	for _, block := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		script.WriteString(block[1])
	}
	text := strings.ReplaceAll(script.String(), "http://127.0.0.1:3000", system.URL)
	// The script says where each promise stands, so that what was printed
	// since the one before can be looked at.
	promise := regexp.MustCompile(`(?m)^# prints (.*)$`)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", promise.ReplaceAllString(text, "echo; echo ===="))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := strings.Split(string(out), "====\n")
	promises := promise.FindAllStringSubmatch(text, -1)
	if len(promises) < 5 || len(printed) != len(promises)+1 {
		t.Fatalf("%d promises, %d outputs:\n%s", len(promises), len(printed), out)
	}
	for i, p := range promises {
		if !strings.Contains(printed[i], p[1]) {
			t.Errorf("README promises %s, got %s", p[1], printed[i])
		}
	}
}
