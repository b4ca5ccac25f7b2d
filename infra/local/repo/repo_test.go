package repo_test

import (
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/repo"
)

func TestRoot(t *testing.T) {
	root := t.TempDir()
	inside := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(inside, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Root(inside); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("outside of a repository: got %v, want ErrNotFound", err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, inside} {
		if got, err := repo.Root(dir); got != root || err != nil {
			t.Errorf("Root(%s) is %s, %v", dir, got, err)
		}
	}
}

func TestBuild(t *testing.T) {
	target := filepath.Join(t.TempDir(), "probe")
	if err := repo.Build(t.Context(), "", target, "../lambda/testdata/probe"); err != nil {
		t.Fatal(err)
	}
	built, err := buildinfo.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range built.Settings {
		got[s.Key] = s.Value
	}
	for key, want := range map[string]string{"-tags": "lambda.norpc", "-trimpath": "true", "CGO_ENABLED": "0"} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	if err := repo.Build(t.Context(), "", target, "./none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "Makefile"), []byte("LAMBDA_ENV := other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := repo.Build(t.Context(), outside, target, "."); !errors.Is(err, repo.ErrFlags) {
		t.Errorf("got %v, want ErrFlags", err)
	}
}
