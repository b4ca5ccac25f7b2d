package provenance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/release/provenance"
)

// sumOfA is the SHA-256 of "a".
const sumOfA = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"b.tgz": "b", "a.whl": "a", provenance.Sums: "old", "rethread-1.0.0" + provenance.Suffix: "old",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestChecksums(t *testing.T) {
	folder := newFolder(t)
	subjects, err := provenance.Subjects(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("sha256sum accepts them, and finds a changed file", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(folder, provenance.Sums), provenance.Checksums(subjects), 0o600); err != nil {
			t.Fatal(err)
		}
		verify := func() ([]byte, error) {
			cmd := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", provenance.Sums)
			cmd.Dir = folder
			return cmd.CombinedOutput()
		}
		if out, err := verify(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if err := os.WriteFile(filepath.Join(folder, "b.tgz"), []byte("c"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := verify(); err == nil || !bytes.Contains(out, []byte("b.tgz: FAILED")) {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("the digests and earlier statements have none", func(t *testing.T) {
		var names []string
		for _, s := range subjects {
			names = append(names, s.Name)
		}
		if diff := cmp.Diff([]string{"a.whl", "b.tgz"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStatement(t *testing.T) {
	folder := newFolder(t)
	subjects, err := provenance.Subjects(folder)
	if err != nil {
		t.Fatal(err)
	}
	build := provenance.Build{
		Version: "1.2.3", Commit: "0123456789012345678901234567890123456789", Root: folder,
		Materials: []string{"a.whl"}, Tools: map[string]string{"go": "go1.26.5", "node": "v20.20.2"},
	}
	first, err := provenance.Statement(build, subjects)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("names the files, the commit and the materials as SLSA does", func(t *testing.T) {
		page := "https://github.com/rethread/rethread/blob/main/docs/releasing.md"
		want := map[string]any{
			"_type": "https://in-toto.io/Statement/v1",
			"subject": []any{
				map[string]any{"name": "a.whl", "digest": map[string]any{"sha256": sumOfA}},
				map[string]any{"name": "b.tgz", "digest": map[string]any{"sha256": subjects[1].Digest["sha256"]}},
			},
			"predicateType": "https://slsa.dev/provenance/v1",
			"predicate": map[string]any{
				"buildDefinition": map[string]any{
					"buildType":          page + "#build-type",
					"externalParameters": map[string]any{"command": "make release VERSION=1.2.3", "version": "1.2.3"},
					"internalParameters": map[string]any{"go": "go1.26.5", "node": "v20.20.2"},
					"resolvedDependencies": []any{
						map[string]any{"uri": "git+https://github.com/rethread/rethread@refs/tags/v1.2.3", "digest": map[string]any{"gitCommit": build.Commit}},
						map[string]any{"name": "a.whl", "digest": map[string]any{"sha256": sumOfA}},
					},
				},
				"runDetails": map[string]any{"builder": map[string]any{"id": page + "#on-your-machine"}},
			},
		}
		var got map[string]any
		if err := json.Unmarshal(first, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("has the same bytes when it is repeated", func(t *testing.T) {
		if again, err := provenance.Statement(build, subjects); !bytes.Equal(first, again) || err != nil {
			t.Errorf("it differs, or %v", err)
		}
	})
	t.Run("fails if a material is missing", func(t *testing.T) {
		build.Materials = []string{"missing"}
		if _, err := provenance.Statement(build, subjects); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}
