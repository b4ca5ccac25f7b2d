package bundle_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/tools/release/bundle"
)

const template = `Resources:
  One:
    Metadata: {BuildMethod: go1.x}
    Properties:
      CodeUri: functions/one/
  Two:
    Properties:
      CodeUri: functions/two/
`

// at returns the time of all files in the archive.
func at() time.Time { return time.Unix(1_795_000_000, 0).UTC() }

func TestWrite(t *testing.T) {
	t.Run("the template names the archives, which have the programs", func(t *testing.T) {
		files := mustRead(t, mustWrite(t, newFolder(t)))
		if got := files["rethread-1.2.3/template.yaml"]; strings.Count(got, ".zip\n") != 2 || !strings.Contains(got, "CodeUri: functions/one.zip\n") {
			t.Errorf("the template is %s", got)
		}
		if files["rethread-1.2.3/LICENSE"] != "free" || len(files) != 4 {
			t.Errorf("got %d files", len(files))
		}
		for _, name := range []string{"one", "two"} {
			text := files["rethread-1.2.3/functions/"+name+".zip"]
			archive, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
			if err != nil || len(archive.File) != 1 || archive.File[0].Name != "bootstrap" || archive.File[0].Mode() != 0o755 {
				t.Fatalf("%s: %v, %v", name, archive, err)
			}
			program, err := archive.File[0].Open()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(program); string(got) != "program "+name || err != nil {
				t.Errorf("%s has %s, %v", name, got, err)
			}
		}
	})
	t.Run("the same files give the same bytes, whenever they were written", func(t *testing.T) {
		one, two := newFolder(t), newFolder(t)
		if err := os.Chtimes(filepath.Join(two, "programs/one"), at(), at().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(mustWrite(t, one), mustWrite(t, two)) {
			t.Error("the bytes differ")
		}
	})
	t.Run("refuses functions that the template does not name, and the reverse", func(t *testing.T) {
		more, fewer := newFolder(t), newFolder(t)
		mustFile(t, filepath.Join(more, "programs/three"), "program three")
		if err := os.Remove(filepath.Join(fewer, "programs/two")); err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{more, fewer} {
			if err := bundle.Write(io.Discard, options(folder)); !errors.Is(err, bundle.ErrFunctions) {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("a file that is missing fails", func(t *testing.T) {
		o := options(newFolder(t))
		o.Others = append(o.Others, "missing")
		if err := bundle.Write(io.Discard, o); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	mustFile(t, filepath.Join(folder, "template.yaml"), template)
	mustFile(t, filepath.Join(folder, "LICENSE"), "free")
	for _, name := range []string{"one", "two"} {
		mustFile(t, filepath.Join(folder, "programs", name), "program "+name)
	}
	return folder
}

func options(folder string) bundle.Options {
	return bundle.Options{
		Template: filepath.Join(folder, "template.yaml"), Programs: filepath.Join(folder, "programs"),
		Others: []string{filepath.Join(folder, "LICENSE")}, Folder: "rethread-1.2.3", Time: at(),
	}
}

func mustFile(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t *testing.T, folder string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := bundle.Write(&out, options(folder)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mustRead(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		text, readErr := io.ReadAll(r)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(at()) || header.Uid != 0 {
			t.Errorf("%s has the time %s and the owner %d", header.Name, header.ModTime, header.Uid)
		}
		files[header.Name] = string(text)
	}
}
