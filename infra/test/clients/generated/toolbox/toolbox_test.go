package toolbox_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/test/clients/generated/toolbox"
)

func TestDocumentation(t *testing.T) {
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	page := mustRead(t, filepath.Join(root, "docs", "clients.md"))
	clients := 0
	for _, language := range toolbox.Languages() {
		for _, c := range language.Clients {
			clients++
			t.Run(c.Name, func(t *testing.T) {
				if !strings.Contains(page, "\n"+c.Generate+"\n") {
					t.Errorf("docs/clients.md does not show the command\n%s", c.Generate)
				}
				pin := mustRead(t, filepath.Join(root, "infra", "test", "clients", "generated", c.PinnedIn))
				found := regexp.MustCompile(c.Version).FindStringSubmatch(pin)
				if found == nil {
					t.Fatalf("%s does not pin %s", c.PinnedIn, c.Name)
				}
				if row := "| " + c.Name + " | " + found[1] + " |"; !strings.Contains(page, row) {
					t.Errorf("docs/clients.md has no row %q", row)
				}
			})
		}
	}
	_, table, _ := strings.Cut(page, "\n| generator |")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows := strings.Count(table, "\n| "); rows != clients {
		t.Errorf("docs/clients.md lists %d generators, and %d are tested", rows, clients)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
