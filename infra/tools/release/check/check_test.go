package check_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/tools/release/changelog"
	"github.com/rethread/rethread/infra/tools/release/check"
	"github.com/rethread/rethread/infra/tools/release/checkout"
	"github.com/rethread/rethread/infra/tools/release/version"
)

const root = "../../../.."

// refusals are the reasons why 3.2.1 cannot be released: what is done to a checkout
// that is ready for it, and the error.
func refusals() map[string]struct {
	do   func(*repository)
	want error
} {
	return map[string]struct {
		do   func(*repository)
		want error
	}{
		"a changed file":    {func(r *repository) { r.write("docs/changelog.md", r.read("docs/changelog.md")+"more") }, checkout.ErrDirty},
		"a staged file":     {func(r *repository) { r.write("new.go", "package new"); r.git("add", "new.go") }, checkout.ErrDirty},
		"an untracked file": {func(r *repository) { r.write("folder/new.go", "package new") }, checkout.ErrDirty},
		"a deleted file":    {func(r *repository) { r.remove(".gitignore") }, checkout.ErrDirty},
		"no section in the changelog": {func(r *repository) {
			r.commit("docs/changelog.md", strings.ReplaceAll(r.read("docs/changelog.md"), "## 3.2.1", "## 3.2.0"))
		}, changelog.ErrMissing},
		"an empty section": {func(r *repository) {
			r.commit("docs/changelog.md", "# Changelog\n\n## 3.2.1\n\n## 3.2.0\n- Old.\n")
		}, changelog.ErrEmpty},
		"entries without a version": {func(r *repository) {
			r.commit("docs/changelog.md", strings.Replace(r.read("docs/changelog.md"), "\n## 3.2.1\n", "\n## Unreleased\n- New.\n\n## 3.2.1\n", 1))
		}, changelog.ErrUnreleased},
		"another version in the npm package": {func(r *repository) {
			r.commit("clients/js/package.json", strings.ReplaceAll(r.read("clients/js/package.json"), "3.2.1", "3.2.0"))
		}, version.ErrUnequal},
		"another version in the Python package": {func(r *repository) {
			r.commit("clients/python/pyproject.toml", strings.ReplaceAll(r.read("clients/python/pyproject.toml"), "3.2.1", "3.2.0"))
		}, version.ErrUnequal},
		"another version in VERSION":   {func(r *repository) { r.commit("VERSION", "3.2.0\n") }, check.ErrOther},
		"a version that is no version": {func(r *repository) { r.commit("VERSION", "3.2\n") }, version.ErrMalformed},
		"a tag at another commit":      {func(r *repository) { r.git("tag", "v3.2.1"); r.commit("new.go", "package new") }, checkout.ErrTagged},
		"an annotated tag at another commit": {func(r *repository) {
			r.git("tag", "--annotate", "--message=3.2.1", "v3.2.1")
			r.commit("new.go", "package new")
		}, checkout.ErrTagged},
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	t.Run("a checkout that is ready", func(t *testing.T) {
		t.Parallel()
		r := newRepository(t)
		state, err := check.Release(t.Context(), r.folder, "3.2.1")
		if err != nil {
			t.Error(err)
		}
		if head := r.git("rev-parse", "HEAD"); state.Commit != head || state.Time != 1_700_000_000 {
			t.Errorf("got %v instead of %s", state, head)
		}
	})
	t.Run("ignored files and the version's own tag do not matter", func(t *testing.T) {
		t.Parallel()
		r := newRepository(t)
		r.write("build/programs/events", "program")
		r.git("tag", "--annotate", "--message=3.2.1", "v3.2.1")
		if _, err := check.Release(t.Context(), r.folder, "3.2.1"); err != nil {
			t.Error(err)
		}
	})
	all := refusals()
	for name, c := range all {
		t.Run("refuses "+name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			c.do(r)
			if _, err := check.Release(t.Context(), r.folder, "3.2.1"); !errors.Is(err, c.want) {
				t.Errorf("got %v instead of %v", err, c.want)
			}
		})
	}
	if t.Logf("%d refusals", len(all)); len(all) < 13 {
		t.Errorf("only %d refusals", len(all))
	}
	t.Run("refuses another version than that of VERSION, and names every reason", func(t *testing.T) {
		t.Parallel()
		r := newRepository(t)
		r.write("new.go", "package new")
		_, err := check.Release(t.Context(), r.folder, "3.3.0")
		for _, want := range []error{check.ErrOther, changelog.ErrMissing, checkout.ErrDirty} {
			if !errors.Is(err, want) {
				t.Errorf("%v is not in %v", want, err)
			}
		}
	})
	t.Run("fails outside a repository", func(t *testing.T) {
		t.Parallel()
		if _, err := check.Release(t.Context(), t.TempDir(), "3.2.1"); err == nil {
			t.Error("it passed")
		}
	})
}

// repository is a checkout that is ready for the release of 3.2.1.
type repository struct {
	tb     testing.TB
	folder string
}

func newRepository(tb testing.TB) *repository {
	tb.Helper()
	r := &repository{tb, tb.TempDir()}
	for _, name := range append(version.Files(), version.File, changelog.File) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			tb.Fatal(err)
		}
		r.write(name, string(text))
	}
	r.write(".gitignore", "/build/\n")
	r.write(changelog.File, "# Changelog\n\n## 3.2.1\n- New.\n\n## 3.2.0\n- Old.\n")
	if err := version.Set(r.folder, "3.2.1"); err != nil {
		tb.Fatal(err)
	}
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message=all")
	return r
}

func (r *repository) git(args ...string) string {
	r.tb.Helper()
	cmd := exec.CommandContext(r.tb.Context(), "git", append([]string{"-C", r.folder}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.tb.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) read(name string) string {
	r.tb.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		r.tb.Fatal(err)
	}
	return string(text)
}

func (r *repository) write(name, text string) {
	r.tb.Helper()
	path := filepath.Join(r.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *repository) remove(name string) {
	r.tb.Helper()
	if err := os.Remove(filepath.Join(r.folder, name)); err != nil {
		r.tb.Fatal(err)
	}
}

// commit changes a file and commits the change.
func (r *repository) commit(name, text string) {
	r.tb.Helper()
	r.write(name, text)
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message=change")
}
