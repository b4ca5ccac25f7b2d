package contract_test

import (
	"os/exec"
	"strings"
	"testing"
)

// What others install in Go brings nothing of the system's own along, and no
// client of a cloud.
func TestClientsStandOnTheirOwn(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", "./clients/go/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/rethread/rethread/"
	own, all := 0, strings.Fields(string(out))
	for _, name := range all {
		switch {
		case strings.HasPrefix(name, module+"clients/go/"):
			own++
		case strings.HasPrefix(name, module), strings.HasPrefix(name, "github.com/aws/"):
			t.Errorf("the clients in Go depend on %s", name)
		}
	}
	t.Logf("%d packages of clients, %d with all that they depend on", own, len(all))
	if own < 2 {
		t.Errorf("only %d packages of clients were listed", own)
	}
}
