package random_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/hunt/random"
)

// mustWrite writes files, each with a function per line of its text.
func mustWrite(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package p_test\n\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFind(t *testing.T) {
	t.Parallel()
	root := mustWrite(t, map[string]string{
		"a/direct_test.go": `func TestDraws(t *testing.T) { property.Check(t, f) }
			func TestDrawsInSubtest(t *testing.T) { t.Run("x", func(t *testing.T) { storetest.Check(t, 10, f) }) }
			func TestDrawsNot(t *testing.T) { other.Check(t, f); property.Seed(t) }`,
		"b/one_test.go": `func TestReaches(t *testing.T) { s.first(t) }
			func (s thing) first(t *testing.T) { func() { second(t) }() }
			func TestNamesOnly(t *testing.T) { var second int; _ = second }
			func TestCallsOneOfTwo(t *testing.T) { a.do() }
			func (a one) do() { second(t) }
			func (b two) do() {}`,
		"b/other_test.go":        `func second(t *testing.T) { use(property.Rand(t, 1)); second(t) }`,
		"c/none_test.go":         `func TestNone(t *testing.T) {}`,
		"c/product.go":           `func TestLike(t *testing.T) { property.Check(t, f) }`,
		"e2e/all_test.go":        `func TestSystem(t *testing.T) { property.Check(t, f) }`,
		"node_modules/x_test.go": `func TestX(t *testing.T) { property.Check(t, f) }`,
	})
	got, err := random.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []random.Package{
		{Dir: filepath.ToSlash(root) + "/a", Tests: []string{"TestDraws", "TestDrawsInSubtest"}},
		{Dir: filepath.ToSlash(root) + "/b", Tests: []string{"TestReaches"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
}

func TestFind_invalid_test(t *testing.T) {
	t.Parallel()
	if got, err := random.Find(mustWrite(t, map[string]string{"a_test.go": "func ("})); err == nil {
		t.Errorf("found %v", got)
	}
}
