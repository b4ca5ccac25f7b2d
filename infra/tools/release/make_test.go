package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

// TestMakeRelease checks that the target refuses before it builds anything; package
// check has more reasons.
func TestMakeRelease(t *testing.T) {
	origin := mustOrigin(t)
	for name, c := range map[string]struct{ file, text, version, want string }{
		"a dirty tree":              {"new.go", "package new\n", "0.1.0", "the working tree differs from its commit: ?? new.go"},
		"a missing changelog":       {"docs/changelog.md", "# Changelog\n", "0.1.0", "## 0.1.0: the changelog has no such section"},
		"unequal versions":          {"clients/python/pyproject.toml", "version = \"9.9.9\"\n", "0.1.0", "clients/python/pyproject.toml: it does not name the version of VERSION: 9.9.9"},
		"a version that is not set": {"new.go", "package new\n", "", "a version is three numbers"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			clone := filepath.Join(t.TempDir(), "clone")
			git(t, "clone", "--quiet", origin, clone)
			if err := os.WriteFile(filepath.Join(clone, filepath.FromSlash(c.file)), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			version := c.version
			if version != "" {
				version = strings.TrimSpace(mustRead(t, filepath.Join(clone, "VERSION")))
			}
			cmd := exec.CommandContext(t.Context(), "make", "release", "VERSION="+version)
			cmd.Dir = clone
			out, err := cmd.CombinedOutput()
			if want := strings.ReplaceAll(c.want, "0.1.0", version); err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%v: %s instead of %s", err, out, want)
			}
			for _, folder := range []string{"release", "arm64"} {
				if _, err := os.Stat(filepath.Join(clone, "build", folder)); err == nil {
					t.Errorf("build/%s was built", folder)
				}
			}
		})
	}
}

// mustOrigin returns a repository with the files of this checkout in one commit.
func mustOrigin(t *testing.T) string {
	t.Helper()
	origin := filepath.Join(t.TempDir(), "origin")
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	git(t, "init", "--quiet", "--bare", "--initial-branch=main", origin)
	at := []string{"-C", tree, "--git-dir=" + origin, "--work-tree=" + tree}
	git(t, append(at, "add", "--all")...)
	git(t, append(at, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=all")...)
	return origin
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
