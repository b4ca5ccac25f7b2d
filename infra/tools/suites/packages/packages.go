// Package packages lists the packages of the module, and says what their tests share and start.
package packages

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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Module is the path of the module.
const Module = "github.com/rethread/rethread"

// System is imported by tests that run the system as processes. The race detector of a
// test does not cover other processes, so neither System nor those tests count as
// sharing memory.
const System = Module + "/infra/test/e2e"

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
	found, system := false, false
	err := p.each(slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles), func(file *ast.File) {
		found, system = found || concurrent(file), system || imports(file, System)
	})
	return found && !system, err
}

// Starts reports whether the package's tests start the local system or DynamoDB Local.
func (p Package) Starts() (found bool, err error) {
	if p.ImportPath == System {
		return true, nil
	}
	err = p.each(slices.Concat(p.TestGoFiles, p.XTestGoFiles), func(file *ast.File) {
		found = found || imports(file, System, Module+"/infra/test/dynamotest", Module+"/infra/local/dynamodb-local", Module+"/infra/local/localtest")
	})
	return found, err
}

// Tests returns the names of the package's tests, examples and fuzz tests.
func (p Package) Tests() (names []string, err error) {
	err = p.each(slices.Concat(p.TestGoFiles, p.XTestGoFiles), func(file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name != "TestMain" && isTest(f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	})
	return names, err
}

// HasTest reports whether the package has a test of a name.
func (p Package) HasTest(name *regexp.Regexp) (bool, error) {
	names, err := p.Tests()
	return slices.ContainsFunc(names, name.MatchString), err
}

// each parses files of the package.
func (p Package) each(names []string, use func(*ast.File)) error {
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		use(file)
	}
	return nil
}

// isTest reports whether `go test` runs functions of a name.
func isTest(name string) bool {
	for _, kind := range []string{"Test", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			first, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsLower(first)
		}
	}
	return false
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
