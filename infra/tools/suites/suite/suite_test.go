package suite_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/suites/packages"
	"github.com/rethread/rethread/infra/tools/suites/suite"
)

// TestComplete checks that `make test` and `make test-slow` together run each test of
// the module exactly once, beside the repetitions with more cases and on DynamoDB Local.
func TestComplete(t *testing.T) {
	const least = 1080
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	list, all := mustLoad(t), mustList(t)
	parts := map[string]suite.Part{}
	for _, target := range []string{"test", "test-slow"} {
		for _, name := range suite.Of(target) {
			if suite.Again(name) {
				continue
			}
			part, err := list.Part(name, all)
			if err != nil {
				t.Fatal(err)
			}
			parts[name] = part
		}
	}
	total := 0
	for _, p := range all {
		for _, test := range mustTests(t, p) {
			total++
			var by []string
			for name, part := range parts {
				if part.Selects(p.ImportPath, test) {
					by = append(by, name)
				}
			}
			if len(by) != 1 {
				t.Errorf("%s of %s is run by %q, want one part", test, p.ImportPath, by)
			}
		}
	}
	t.Logf("%d tests", total)
	if total < least {
		t.Errorf("%d tests, want %d", total, least)
	}
}

// TestListed checks that each line of suites.txt is about something that exists.
func TestListed(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	list, tests := mustLoad(t), map[string][]string{}
	for _, p := range mustList(t) {
		tests[strings.TrimPrefix(p.ImportPath, packages.Module+"/")] = mustTests(t, p)
	}
	for _, folder := range slices.Concat(list.Slow, list.DynamoDB, list.Sampled, list.Plain, list.Unhurried) {
		if len(tests[folder]) == 0 {
			t.Errorf("%s has no tests", folder)
		}
	}
	for _, name := range slices.Concat(list.Sequential, list.Late, list.Memory) {
		found := false
		for _, names := range tests {
			found = found || slices.ContainsFunc(names, regexp.MustCompile("^"+name+"$").MatchString)
		}
		if !found {
			t.Errorf("no test is called %s", name)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := suite.Parse("# a comment\n\nslow a/b # because\nplain c\nsequential TestX\nslow d\ndynamodb e\nlate TestL\nsampled f\nmemory TestM\nunhurried g")
	want := suite.List{
		Slow: []string{"a/b", "d"}, Plain: []string{"c"}, Sequential: []string{"TestX"}, DynamoDB: []string{"e"},
		Late: []string{"TestL"}, Sampled: []string{"f"}, Memory: []string{"TestM"},
		Unhurried: []string{"g"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, wrong := range []string{"slow", "fast a", "slow a b", "late ("} {
		if _, err := suite.Parse(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	all := []packages.Package{{ImportPath: packages.Module + "/a"}, {ImportPath: packages.System}, {ImportPath: packages.Module + "/b"}, {ImportPath: packages.Module + "/c"}}
	list := suite.List{
		Slow: []string{"b"}, Sequential: []string{"TestX", "TestY"}, DynamoDB: []string{"a"}, Late: []string{"TestZ"}, Sampled: []string{"a"}, Memory: []string{"TestM"},
		Unhurried: []string{"c"},
	}
	for name, want := range map[string]string{
		"check":     "-skip=^(TestX|TestY|TestZ)$ " + packages.Module + "/a",
		"plain":     "-skip=^(TestZ)$ " + packages.System + " " + packages.Module + "/a " + packages.Module + "/c",
		"race":      "-race -gcflags=compress/flate=-race=false -skip=^(TestX|TestY|TestZ)$",
		"sampled":   "-skip=^(TestZ)$ " + packages.Module + "/a",
		"slow":      packages.Module + "/b",
		"dynamodb":  "-skip=^(TestM)$ " + packages.Module + "/a",
		"slow-race": "-race -gcflags=compress/flate=-race=false",
	} {
		part, err := list.Part(name, all)
		if got := strings.Join(part.Arguments(), " "); got != want || err != nil {
			t.Errorf("%s: %v, %s, want %s", name, err, got, want)
		}
	}
	if _, err := list.Part("none", all); err == nil {
		t.Error("a part that does not exist is accepted")
	}
}

func mustLoad(t *testing.T) suite.List {
	t.Helper()
	list, err := suite.Load()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func mustList(t *testing.T) []packages.Package {
	t.Helper()
	all, err := packages.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func mustTests(t *testing.T, p packages.Package) []string {
	t.Helper()
	names, err := p.Tests()
	if err != nil {
		t.Fatal(err)
	}
	return names
}
