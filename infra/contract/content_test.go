package contract_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/repo"
)

// TestContentHasOneReader checks that only shared/domain/content names the members of
// contents, so that a new kind of part begins there, and nothing reads one otherwise.
func TestContentHasOneReader(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{ // paths and what they may name, which protocols or others call so
		"shared/transport/openresponses/responsesconvert": "types of items, and the member of a file, of the Responses API",
		"shared/client/agent/responses":                   "types of items, and the member of a file, of the Responses API",
		"shared/client/agent/chat/history.go":             "the member of a file of the Chat Completions API",
		"shared/transport/a2a/a2aconvert/parts.go":        "values of the metadata by which kagent and ADK mark parts in A2A",
		"shared/client/agent/a2a/part.go":                 "values of the metadata by which kagent and ADK mark parts in A2A",
		"shared/client/agent/agenttest":                   "events of tests, in JSON",
	}
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	// clients and infra/test are not listed: they do not share code with what they test.
	used, files := map[string]bool{}, 0
	for _, folder := range []string{"shared", "functions", "infra/local", "infra/ops", "infra/demo", "infra/tools", "infra/bench"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			at, err := filepath.Rel(root, path)
			if err != nil || strings.HasPrefix(at, "shared/domain/content/") {
				return err
			}
			for _, name := range mustMembersOfContents(t, path) {
				reason := false
				for allow := range allowed {
					if at == allow || strings.HasPrefix(at, allow+"/") {
						used[allow], reason = true, true
					}
				}
				if !reason {
					t.Errorf("%s names the member %s, which is for shared/domain/content to read and write", at, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for allow := range allowed {
		if !used[allow] {
			t.Errorf("%s does not name a member any more", allow)
		}
	}
	if files < 900 {
		t.Errorf("only %d files", files)
	}
}

// mustMembersOfContents returns the members of contents that a file names: as a string, in
// the tag of a field, or in JSON.
func mustMembersOfContents(t *testing.T, path string) (out []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	member := regexp.MustCompile(`(?:^|")(function_call|function_response|inline_data|file_data|args_text|file_uri|part_metadata)(?:$|[",])`)
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range member.FindAllStringSubmatch(text, -1) {
				out = append(out, found[1])
			}
		}
		return true
	})
	return out
}
