package plan_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/steps/plan"
	"github.com/rethread/rethread/infra/tools/steps/play"
)

// checkout is a repository with three files.
type checkout struct {
	t    *testing.T
	root string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{t, t.TempDir()}
	c.write("page/a", "1")
	c.write("api/b", "1")
	c.write(".gitignore", "build\n")
	c.write(plan.Record, "{}")
	c.git("init", "--quiet")
	c.commit()
	return c
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) git(args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", append([]string{"-C", c.root}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (c *checkout) commit() {
	c.t.Helper()
	c.git("add", "--all")
	c.git("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=all")
}

// mustPlan plans with a step for each of the folders and one without inputs, and returns
// since when each is unchanged.
func (c *checkout) mustPlan(commit string, all bool) (plan.Plan, map[string]string) {
	c.t.Helper()
	p, err := plan.Make(c.t.Context(), c.root, commit, []plan.Budgeted{
		{Name: "test", Kind: play.First, CPU: 1},
		{Name: "page", Kind: play.Waits, CPU: 1, Inputs: []string{"page"}},
		{Name: "client", Kind: play.Waits, CPU: 1, Inputs: []string{"api", "client"}},
	}, all)
	if err != nil {
		c.t.Fatal(err)
	}
	unchanged := map[string]string{}
	for _, s := range p.Steps {
		unchanged[s.Name] = s.Unchanged
	}
	return p, unchanged
}

// rare makes the tree one that does not run everything by its hash, or one that does.
func (c *checkout) rare(full bool) {
	c.t.Helper()
	for n := range 200 {
		c.write("salt", string(rune('a'+n)))
		if p, _ := c.mustPlan("", false); (p.Seed%5 == 0) == full {
			return
		}
	}
	c.t.Fatal("no tree was found")
}

func TestMake(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, got map[string]string, page, client string) {
		t.Helper()
		if diff := cmp.Diff(map[string]string{"test": "", "page": page, "client": client}, got); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("runs everything until it has passed, then what has changed", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.rare(false)
		p, got := c.mustPlan("one", false)
		check(t, got, "", "")
		if err := p.Keep(); err != nil {
			t.Fatal(err)
		}
		_, got = c.mustPlan("two", false)
		check(t, got, "one", "one")
		c.write("client/new", "2")
		c.rare(false)
		p, got = c.mustPlan("two", false)
		check(t, got, "one", "")
		if err := p.Keep(); err != nil {
			t.Fatal(err)
		}
		_, got = c.mustPlan("three", false)
		check(t, got, "one", "two")
		if err := os.Remove(filepath.Join(c.root, "page", "a")); err != nil {
			t.Fatal(err)
		}
		c.rare(false)
		_, got = c.mustPlan("three", false)
		check(t, got, "", "two")
	})
	t.Run("keeps what others have passed with", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.rare(false)
		p, _ := c.mustPlan("one", false)
		for _, name := range []string{"page", "client"} {
			only := p
			only.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s play.Step) bool { return s.Name != name })
			if err := only.Keep(); err != nil {
				t.Fatal(err)
			}
			p, _ = c.mustPlan("two", false)
		}
		c.rare(false)
		_, got := c.mustPlan("three", false)
		check(t, got, "one", "two")
	})
	t.Run("forgets steps that are gone or always run", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.write(plan.Record, `{"gone":{"inputs":"a","since":"b"},"test":{"inputs":"c","since":"d"}}`)
		p, _ := c.mustPlan("one", false)
		p.Steps = p.Steps[:2]
		if err := p.Keep(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(c.root, plan.Record))
		var got map[string]plan.Passed
		if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"page"}, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("runs everything if it is told to, and for one in five trees", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.rare(false)
		p, _ := c.mustPlan("one", false)
		if err := p.Keep(); err != nil {
			t.Fatal(err)
		}
		_, got := c.mustPlan("two", true)
		check(t, got, "", "")
		c.rare(true)
		_, got = c.mustPlan("two", false)
		check(t, got, "", "")
	})
	t.Run("a commit and the record do not change the seed", func(t *testing.T) {
		t.Parallel()
		c := newCheckout(t)
		c.write("page/a", "2")
		before, _ := c.mustPlan("one", false)
		if err := before.Keep(); err != nil {
			t.Fatal(err)
		}
		c.commit()
		c.write("build", "ignored")
		after, _ := c.mustPlan("two", false)
		if before.Seed != after.Seed || before.Seed == 0 {
			t.Errorf("%d became %d", before.Seed, after.Seed)
		}
		c.write("page/a", "3")
		if other, _ := c.mustPlan("two", false); other.Seed == after.Seed {
			t.Errorf("another tree has the same seed, %d", other.Seed)
		}
	})
}
