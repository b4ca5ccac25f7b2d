package samtemplate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestRestoredTable compares the table that docs/restore.md imports with that of
// template.yaml, which the next deployment makes of it: what differs is either set then or
// replaces the table.
func TestRestoredTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/restore.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(page), "```yaml\n")
	shown, _, closed := strings.Cut(shown, "```")
	if !found || !closed {
		t.Fatal("docs/restore.md shows no template")
	}
	var imported struct {
		Resources map[string]rawResource `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(shown), &imported); err != nil {
		t.Fatal(err)
	}
	table, whole := imported.Resources["Table"], mustRaw(t, "../../../template.yaml")["Table"]
	compared := 0
	for name, node := range table.Properties {
		if name == "TableName" {
			continue
		}
		compared++
		var want, got any
		given := whole.Properties[name]
		if err := given.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if err := node.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-template.yaml +docs/restore.md)\n%s", name, diff)
		}
	}
	if compared < 4 || table.Type != whole.Type {
		t.Errorf("%d properties of a %s were compared", compared, table.Type)
	}
}
