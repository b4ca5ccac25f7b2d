package packages_test

import (
	"os"
	"path/filepath"
	"regexp"
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

func TestStarts(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"import _ \"" + packages.Module + "/infra/test/dynamotest\"":   true,
		"import _ \"" + packages.Module + "/infra/local/localtest\"":   true,
		"import _ \"" + packages.System + "\"":                         true,
		"import _ \"" + packages.Module + "/infra/test/storetest\"":    false,
		"import _ \"" + packages.Module + "/infra/test/e2e/httpfile\"": false,
	} {
		got, err := mustPackage(t, source).Starts()
		if err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", source, got, err, want)
		}
	}
}

func TestTests(t *testing.T) {
	t.Parallel()
	p := mustPackage(t, `
func TestOne(*testing.T) {}
func Test(*testing.T) {}
func Test_two(*testing.T) {}
func FuzzThree(*testing.F) {}
func ExampleFour() {}
func Testimony() {}
func TestMain(*testing.M) {}
func (s *suite) TestFive() {}
func help() { _ = "func TestSix() {}" }`)
	got, err := p.Tests()
	if want := []string{"TestOne", "Test", "Test_two", "FuzzThree", "ExampleFour"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for name, want := range map[string]bool{"^TestOne$": true, "^TestSix$": false} {
		if found, err := p.HasTest(regexp.MustCompile(name)); err != nil || found != want {
			t.Errorf("%s: %v, %v, want %v", name, found, err, want)
		}
	}
}

// mustPackage returns a package with one file of tests.
func mustPackage(t *testing.T, source string) packages.Package {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	return packages.Package{ImportPath: "p", Dir: dir, TestGoFiles: []string{"p_test.go"}}
}
