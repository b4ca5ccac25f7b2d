package contract_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestClientsStandOnTheirOwn checks that the Go clients depend on no package of
// the system and on no cloud SDK.
func TestClientsStandOnTheirOwn(t *testing.T) {
	t.Parallel()
	const module = "github.com/rethread/rethread/"
	own, all := 0, dependencies(t, module+"clients/go/...")
	for _, name := range all {
		switch {
		case name == module+"clients/go", strings.HasPrefix(name, module+"clients/go/"):
			own++
		case strings.HasPrefix(name, module), strings.HasPrefix(name, "github.com/aws/"):
			t.Errorf("the clients in Go depend on %s", name)
		}
	}
	t.Logf("%d packages of clients, %d including their dependencies", own, len(all))
	if own < 4 {
		t.Errorf("only %d packages of clients were listed", own)
	}
}

// TestTheViewOfASessionHasNoNetwork checks that the view applies messages
// independently of the transport.
func TestTheViewOfASessionHasNoNetwork(t *testing.T) {
	t.Parallel()
	all := dependencies(t, "github.com/rethread/rethread/clients/go/watch/view")
	if !slices.Contains(all, "encoding/json") {
		t.Errorf("it depends on %q alone", all)
	}
	for _, name := range all {
		if name == "net" || strings.HasPrefix(name, "net/") || strings.Contains(name, "websocket") {
			t.Errorf("it depends on %s", name)
		}
	}
}

// dependencies lists packages and all of their dependencies, without those of
// tests.
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
