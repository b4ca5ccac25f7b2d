package contract_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What others install in Go brings nothing of the system's own along, and no
// client of a cloud.
func TestClientsStandOnTheirOwn(t *testing.T) {
	t.Parallel()
	const module = "github.com/rethread/rethread/"
	own, all := 0, dependencies(t, "./clients/go/...")
	for _, name := range all {
		switch {
		case strings.HasPrefix(name, module+"clients/go/"):
			own++
		case strings.HasPrefix(name, module), strings.HasPrefix(name, "github.com/aws/"):
			t.Errorf("the clients in Go depend on %s", name)
		}
	}
	t.Logf("%d packages of clients, %d with all that they depend on", own, len(all))
	if own < 4 {
		t.Errorf("only %d packages of clients were listed", own)
	}
}

// What messages do to a session is the same whatever brings them.
func TestTheViewOfASessionHasNoNetwork(t *testing.T) {
	t.Parallel()
	all := dependencies(t, "./clients/go/watch/view")
	if !slices.Contains(all, "encoding/json") {
		t.Errorf("it depends on %q alone", all)
	}
	for _, name := range all {
		if name == "net" || strings.HasPrefix(name, "net/") || strings.Contains(name, "websocket") {
			t.Errorf("it depends on %s", name)
		}
	}
}

// dependencies are packages and all that they depend on, without their tests.
func dependencies(t *testing.T, packages string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", packages)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
