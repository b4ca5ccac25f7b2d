package packages_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rethread/rethread/infra/tools/suites/packages"
)

func TestShared(t *testing.T) {
	for name, tc := range map[string]struct {
		source string
		want   bool
	}{
		"a go statement":          {"package p\nfunc f() { go f() }", true},
		"a lock":                  {"package p\nimport \"sync\"\nvar _ sync.Mutex", true},
		"an atomic value":         {"package p\nimport \"sync/atomic\"\nvar _ atomic.Bool", true},
		"neither":                 {"package p\nimport \"strings\"\nvar _ = strings.ToUpper", false},
		"a system of processes":   {"package p\nimport _ \"" + packages.System + "\"\nfunc f() { go f() }", false},
		"a name that begins so":   {"package p\nfunc f() { synchronise(); gone() }", false},
		"a goroutine in a string": {"package p\nvar _ = \"go f()\"", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(tc.source), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := packages.Package{ImportPath: "p", Dir: dir, XTestGoFiles: []string{"p.go"}}.Shared()
			if err != nil || got != tc.want {
				t.Errorf("%v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// TestList checks packages that are known to share memory, and some that do not.
func TestList(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	all, err := packages.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"infra/local/lambda": true, "infra/local/queue": true, "infra/test/goclients/watch": true, "shared/store/table/memory": true,
		"shared/observe/logs": true, "infra/test/e2e": false, "docs/examples/adk-go": false, "shared/domain/task": false,
	} {
		i := slices.IndexFunc(all, func(p packages.Package) bool { return p.ImportPath == "github.com/rethread/rethread/"+path })
		if i < 0 {
			t.Errorf("%s is not listed, among %d", path, len(all))
			continue
		}
		if got, err := all[i].Shared(); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", path, got, err, want)
		}
	}
}
