// Package memory finds the packages that share memory between goroutines.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// System is imported by tests that run the system as processes. The race detector of a
// test does not cover other processes, so neither System nor those tests count as
// sharing memory.
const System = "github.com/rethread/rethread/infra/test/e2e"

// Package is a package as listed by the go command.
type Package struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// List returns the packages of the module around the working folder.
func List(ctx context.Context) ([]Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var all []Package
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		switch err := in.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		all = append(all, p)
	}
}

// Shared reports whether the package or its tests share memory between goroutines.
func (p Package) Shared() (bool, error) {
	if p.ImportPath == System {
		return false, nil
	}
	found := false
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if imports(file, System) {
			return false, nil
		}
		found = found || concurrent(file)
	}
	return found, nil
}

// concurrent reports whether a file starts goroutines, or has what only they need.
func concurrent(file *ast.File) bool {
	found := imports(file, "sync", "sync/atomic", "golang.org/x/sync/errgroup", "golang.org/x/sync/semaphore", "testing/synctest")
	ast.Inspect(file, func(n ast.Node) bool {
		_, starts := n.(*ast.GoStmt)
		found = found || starts
		return !found
	})
	return found
}

func imports(file *ast.File, paths ...string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		path, err := strconv.Unquote(spec.Path.Value)
		return err == nil && slices.Contains(paths, path)
	})
}
