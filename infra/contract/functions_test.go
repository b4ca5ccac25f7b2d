package contract_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/repo"
)

// TestFunctions_link_what_they_serve holds ADR 81: libraries that few functions need are
// in no other, since Go's linker keeps the initialisation of each imported package.
func TestFunctions_link_what_they_serve(t *testing.T) {
	t.Parallel()
	const agents = "github.com/rethread/rethread/shared/client/agent/"
	// Functions that invoke others.
	invoking := []string{"a2a", "agui", "aisdk", "deliver", "dispatch", "fanout", "responses", "runs", "sweeper"}
	only := map[string][]string{ // by the beginning of a package's path
		"google.golang.org/grpc":                            {"a2a", "deliver", "tasks"},
		"google.golang.org/protobuf":                        {"a2a", "deliver", "tasks"},
		"github.com/a2aproject":                             {"a2a", "deliver", "tasks"},
		"github.com/modelcontextprotocol":                   {"mcp"},
		"github.com/aws/aws-sdk-go-v2/service/sqs":          {"deliver", "dispatch", "webhooks"},
		"github.com/aws/aws-sdk-go-v2/service/eventbridge":  {"dispatch"},
		"github.com/aws/aws-sdk-go-v2/service/lambda":       invoking,
		"github.com/standard-webhooks":                      {"a2a", "deliver", "webhooks"},
		"code.dny.dev/ssrf":                                 {"a2a", "deliver", "webhooks"},
		agents + "a2a":                                      {"runner"},
		agents + "chat":                                     {"runner"},
		"github.com/rethread/rethread/shared/transport/mcp": {"mcp"},
		"text/template":                                     {"a2a", "deliver", "tasks"},
	}
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-tags=lambda.norpc", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", "./functions/...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	functions, found := 0, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		deps := strings.Fields(line)
		name := deps[0][strings.LastIndex(deps[0], "/")+1:]
		functions++
		for _, dep := range deps[1:] {
			for path, may := range only {
				if !strings.HasPrefix(dep, path) {
					continue
				}
				found[path] = true
				if !slices.Contains(may, name) {
					t.Errorf("%s links %s", name, dep)
				}
			}
		}
	}
	if functions < 28 {
		t.Errorf("only %d functions", functions)
	}
	for path := range only {
		if !found[path] {
			t.Errorf("no function links %s: the list is out of date", path)
		}
	}
}
