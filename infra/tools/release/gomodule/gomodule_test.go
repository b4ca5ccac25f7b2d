package gomodule_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/rethread/rethread/infra/tools/release/gomodule"
)

func TestSums(t *testing.T) {
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": "package m\n"}
	t.Run("are the hashes of the files at the commit, without nested modules", func(t *testing.T) {
		folder, commit := newRepository(t, files, map[string]string{"nested/go.mod": "module example.com/m/nested\n", "nested/n.go": "package n\n"})
		if err := os.WriteFile(filepath.Join(folder, "later.go"), []byte("package m\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := gomodule.Sums(t.Context(), folder, "", commit, "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		alone, _ := newRepository(t, files)
		if err := os.RemoveAll(filepath.Join(alone, ".git")); err != nil {
			t.Fatal(err)
		}
		whole, err := dirhash.HashDir(alone, "example.com/m@v1.2.3", dirhash.Hash1)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(got, "\n")
		if lines[0] != "example.com/m v1.2.3 "+whole || !strings.HasPrefix(lines[1], "example.com/m v1.2.3/go.mod h1:") || len(lines) != 3 {
			t.Errorf("got %s instead of %s", got, whole)
		}
	})
	t.Run("are the same from a worktree", func(t *testing.T) {
		folder, commit := newRepository(t, files)
		worktree := filepath.Join(t.TempDir(), "worktree")
		git(t, folder, "worktree", "add", "--quiet", worktree, "HEAD")
		one, err := gomodule.Sums(t.Context(), folder, "", commit, "1.2.3")
		two, errTwo := gomodule.Sums(t.Context(), worktree, "", commit, "1.2.3")
		if one == "" || one != two || errors.Join(err, errTwo) != nil {
			t.Errorf("%s, %s, %v, %v", one, two, err, errTwo)
		}
	})
	t.Run("refuses a module that replaces others", func(t *testing.T) {
		folder, commit := newRepository(t, map[string]string{"go.mod": "module example.com/m\n\nreplace example.com/n => ../n\n"})
		if _, err := gomodule.Sums(t.Context(), folder, "", commit, "1.2.3"); !errors.Is(err, gomodule.ErrReplaced) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("accepts a module above it, which is released in the same version", func(t *testing.T) {
		const require = "module example.com/m/nested\n\ngo 1.26\n\nrequire example.com/m v1.2.3\n\nreplace example.com/m => ../\n"
		folder, commit := newRepository(t, files, map[string]string{"nested/go.mod": require, "nested/n.go": "package nested\n"})
		if got, err := gomodule.Sums(t.Context(), folder, "nested", commit, "1.2.3"); err != nil || !strings.HasPrefix(got, "example.com/m/nested v1.2.3 h1:") {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := gomodule.Sums(t.Context(), folder, "nested", commit, "1.2.4"); !errors.Is(err, gomodule.ErrRequired) {
			t.Errorf("another version: got %v", err)
		}
	})
	t.Run("fails for a version that belongs to another module path", func(t *testing.T) {
		folder, commit := newRepository(t, files)
		if _, err := gomodule.Sums(t.Context(), folder, "", commit, "2.0.0"); err == nil {
			t.Error("it passed: from 2.0.0 on the module's path must end with /v2")
		}
	})
}

// newRepository returns a repository with files in one commit, and the commit.
func newRepository(t *testing.T, all ...map[string]string) (folder, commit string) {
	t.Helper()
	folder = t.TempDir()
	for _, files := range all {
		for name, text := range files {
			path := filepath.Join(folder, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	git(t, folder, "init", "--quiet")
	git(t, folder, "add", "--all")
	git(t, folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=all")
	return folder, git(t, folder, "rev-parse", "HEAD")
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
