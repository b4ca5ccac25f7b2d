package version_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/tools/release/version"
)

const root = "../../../.."

func TestVersion(t *testing.T) {
	t.Run("every file of the repository names the version of VERSION", func(t *testing.T) {
		v, err := version.Read(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := version.Check(root, v); err != nil {
			t.Error(err)
		}
		if t.Logf("%s in %d places", v, len(version.Files())); len(version.Files()) < 7 {
			t.Errorf("only %d places are compared", len(version.Files()))
		}
	})
	t.Run("another version in any file is reported with its name", func(t *testing.T) {
		for _, name := range version.Files() {
			copied := mustCopy(t)
			v := mustRead(t, copied, version.File)
			mustWrite(t, copied, name, strings.ReplaceAll(mustRead(t, copied, name), strings.TrimSpace(v), "7.8.9"))
			err := version.Check(copied, strings.TrimSpace(v))
			if !errors.Is(err, version.ErrUnequal) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "7.8.9") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
	t.Run("a file that no longer names a version is reported", func(t *testing.T) {
		copied := mustCopy(t)
		mustWrite(t, copied, "docs/five-minutes.md", "nothing")
		if err := version.Check(copied, "0.1.0"); !errors.Is(err, version.ErrUnequal) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("Set changes the version everywhere and nothing else", func(t *testing.T) {
		copied := mustCopy(t)
		if err := version.Set(copied, "12.0.345"); err != nil {
			t.Fatal(err)
		}
		if err := version.Check(copied, "12.0.345"); err != nil {
			t.Error(err)
		}
		old := strings.TrimSpace(mustRead(t, root, version.File))
		if v, err := version.Read(copied); v != "12.0.345" || err != nil {
			t.Errorf("VERSION has %s, %v", v, err)
		}
		if err := version.Set(copied, old); err != nil {
			t.Fatal(err)
		}
		for _, name := range append(version.Files(), version.File) {
			if mustRead(t, copied, name) != mustRead(t, root, name) {
				t.Errorf("%s is not as before", name)
			}
		}
	})
	t.Run("only three numbers are a version", func(t *testing.T) {
		for v, valid := range map[string]bool{
			"0.1.0": true, "10.20.30": true, "": false, "1.2": false, "v1.2.3": false, "1.2.3-rc.1": false, "01.2.3": false, "1.2.3\n": false, "1.2.3.4": false,
		} {
			if err := version.Validate(v); (err == nil) != valid || err != nil && !errors.Is(err, version.ErrMalformed) {
				t.Errorf("%q: got %v", v, err)
			}
		}
	})
}

// mustCopy returns a folder with the files that name the version.
func mustCopy(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range append(version.Files(), version.File) {
		mustWrite(t, folder, name, mustRead(t, root, name))
	}
	return folder
}

func mustRead(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mustWrite(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
