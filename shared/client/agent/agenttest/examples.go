package agenttest

import (
	"io/fs"
	"os"
	"regexp"
	"testing"
)

// Examples returns the code blocks of docs/agent-protocol.md that are marked with a
// word; root is the folder of the repository.
func Examples(t *testing.T, root, kind string) []string {
	t.Helper()
	page, err := fs.ReadFile(os.DirFS(root), "docs/agent-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("the page has no example %q", kind)
	}
	return out
}
