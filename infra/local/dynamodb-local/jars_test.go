package dynamodblocal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
)

// maven replaces Maven: it records that it ran and makes the requested folder.
const maven = `#!/bin/sh
echo run >> "$(dirname "$0")/runs"
for argument; do
  case "$argument" in -Djars=*) mkdir -p "${argument#-Djars=}" ;; esac
done
`

func TestFetch(t *testing.T) {
	t.Run("two concurrent starts download once", func(t *testing.T) {
		root, tools := mustProject(t, maven)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				_, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{Root: root})
				if err == nil || !strings.Contains(err.Error(), "ServerRunner") {
					t.Errorf("got %v, want Java's error about the empty folder", err)
				}
			})
		}
		group.Wait()
		if runs := mustRead(t, filepath.Join(tools, "runs")); runs != "run\n" {
			t.Errorf("Maven ran %q", runs)
		}
	})
	t.Run("a changed project is downloaded again", func(t *testing.T) {
		root, tools := mustProject(t, maven)
		for _, contents := range []string{"<project/>", "<project>changed</project>", "<project/>"} {
			mustWrite(t, filepath.Join(root, "infra", "local", "dynamodb-local", "pom.xml"), contents, 0o600)
			_, _ = dynamodblocal.Start(t.Context(), dynamodblocal.Options{Root: root}) // there is no engine to start
		}
		if runs := mustRead(t, filepath.Join(tools, "runs")); runs != "run\nrun\n" {
			t.Errorf("Maven ran %q", runs)
		}
	})
	t.Run("the error contains Maven's output", func(t *testing.T) {
		root, _ := mustProject(t, "#!/bin/sh\necho no such artifact\nexit 1\n")
		_, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{Root: root})
		if err == nil || !strings.Contains(err.Error(), "no such artifact") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("reports missing Maven", func(t *testing.T) {
		root, tools := mustProject(t, "")
		mustWrite(t, filepath.Join(tools, "java"), "#!/bin/sh\n", 0o700)
		t.Setenv("PATH", tools)
		t.Setenv("JAVA_HOME", "")
		_, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{Root: root})
		if !errors.Is(err, dynamodblocal.ErrPrerequisite) || !strings.Contains(err.Error(), "mvn") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("reports the version of a Java that is too old", func(t *testing.T) {
		root, tools := mustProject(t, maven)
		mustWrite(t, filepath.Join(tools, "java"), "#!/bin/sh\n[ \"$1\" = -version ] && echo 'openjdk version \"11.0.2\"' >&2 "+
			"|| echo java.lang.UnsupportedClassVersionError\n", 0o700)
		t.Setenv("JAVA_HOME", "")
		_, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{Root: root})
		if !errors.Is(err, dynamodblocal.ErrPrerequisite) || !strings.Contains(err.Error(), "found 11") {
			t.Errorf("got %v", err)
		}
	})
}

// mustProject makes a repository root with a Maven project, and puts a folder with
// the given mvn first on the path.
func mustProject(t *testing.T, mvn string) (root, tools string) {
	t.Helper()
	root, tools = t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "infra", "local", "dynamodb-local"), 0o750); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(root, "infra", "local", "dynamodb-local", "pom.xml"), "<project/>", 0o600)
	if mvn != "" {
		mustWrite(t, filepath.Join(tools, "mvn"), mvn, 0o700)
		t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return root, tools
}

func mustWrite(t *testing.T, path, contents string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(contents), mode); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(contents)
}
