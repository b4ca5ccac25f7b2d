package repo_test

import (
	"errors"
	"os"
	"path/filepath"
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
