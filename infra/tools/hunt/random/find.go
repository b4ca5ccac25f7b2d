// Package random finds the tests that draw random cases.
package random

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Package is a folder with tests that draw random cases.
type Package struct {
	Dir   string // slash-separated, below the root that was searched
	Tests []string
}

// Find lists the packages below a folder, and of each the test functions that reach
// one that draws. The package property itself is left out, and so are end-to-end
// tests, which draw the moments of their faults only.
func Find(root string) (all []Package, err error) {
	files := map[string][]string{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && skipped(entry.Name()) {
			return filepath.SkipDir
		}
		if dir := filepath.ToSlash(filepath.Dir(path)); strings.HasSuffix(path, "_test.go") {
			files[dir] = append(files[dir], path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for tests: %w", err)
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		tests, err := drawing(files[dir])
		if err != nil {
			return nil, err
		}
		if len(tests) > 0 {
			all = append(all, Package{Dir: dir, Tests: tests})
		}
	}
	return all, nil
}

func skipped(folder string) bool {
	return folder[0] == '.' || slices.Contains([]string{"node_modules", "build", "testdata", "e2e", "property"}, folder)
}

// drawing returns the test functions of a package's files that draw.
func drawing(files []string) (tests []string, err error) {
	functions := map[string]map[string]bool{} // by name, the names that it calls
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse a test: %w", err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				note(functions, f)
			}
		}
	}
	for name := range functions {
		if strings.HasPrefix(name, "Test") && name != "TestMain" && reaches(functions, name, map[string]bool{}) {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests, nil
}

// draw stands for the functions that draw, which Find looks for.
const draw = "property."

// note adds the names that a function or method calls. Several of the same name are
// not followed: there are no types here, and a name such as do would join unrelated
// tests.
func note(functions map[string]map[string]bool, f *ast.FuncDecl) {
	if _, ambiguous := functions[f.Name.Name]; ambiguous {
		functions[f.Name.Name] = nil
		return
	}
	used := map[string]bool{}
	functions[f.Name.Name] = used
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.SelectorExpr:
			if from, ok := fun.X.(*ast.Ident); ok && draws(from.Name, fun.Sel.Name) {
				used[draw] = true
			}
			used[fun.Sel.Name] = true
		case *ast.Ident:
			used[fun.Name] = true
		}
		return true
	})
}

func draws(from, name string) bool {
	switch from {
	case "property":
		return name == "Check" || name == "CheckN" || name == "Rand"
	case "storetest":
		return name == "Check"
	default:
		return false
	}
}

func reaches(functions map[string]map[string]bool, name string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	seen[name] = true
	for used := range functions[name] {
		if used == draw || reaches(functions, used, seen) {
			return true
		}
	}
	return false
}
