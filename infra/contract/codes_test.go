package contract_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
)

// TestErrorCodes compares the list of codes with the contract, the documents, and the
// faults that the code makes.
func TestErrorCodes(t *testing.T) {
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[fault.Code]int{} // their statuses
	for kind := fault.Kind(0); kind <= fault.Busy; kind++ {
		for _, code := range fault.Codes(kind) {
			if code.Kind() != kind {
				t.Errorf("%s has two kinds", code)
			}
			listed[code] = problem.StatusOf(&fault.Error{Kind: kind, Code: code})
		}
	}
	if len(listed) < 60 {
		t.Fatalf("only %d codes", len(listed))
	}
	names := make([]string, 0, len(listed))
	for code := range listed {
		names = append(names, string(code))
	}
	slices.Sort(names)
	t.Run("are those of the contract", func(t *testing.T) {
		spec, err := contract.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(names, slices.Sorted(slices.Values(spec.Enum("ErrorCode")))); diff != "" {
			t.Errorf("shared/base/fault (-) and infra/openapi.yaml (+) differ:\n%s", diff)
		}
	})
	t.Run("have entries in docs/errors.md, with a meaning and what to do", func(t *testing.T) {
		documented := mustDocumentedCodes(t, root)
		for code, status := range listed {
			if documented[code] != min(status, 500) {
				t.Errorf("%s has the status %d, and is documented with %d", code, status, documented[code])
			}
		}
		if len(documented) != len(listed) {
			t.Errorf("%d codes are documented, and %d listed", len(documented), len(listed))
		}
	})
	for path, entry := range map[string]*regexp.Regexp{ // the compiler compares those of clients/js with the contract
		"clients/go/codes.go":                         regexp.MustCompile(`(?m)^\tErr\w+ +CodeError = "(\w+)"`),
		"clients/python/src/rethread_client/codes.py": regexp.MustCompile(`(?m)^    "(\w+)": \w+Error,$`),
	} {
		t.Run("are those of "+path, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, found := range entry.FindAllStringSubmatch(string(text), -1) {
				got = append(got, found[1])
			}
			if strings.HasSuffix(path, ".go") { // the sentinels of these statuses stand for them
				got = append(got, "unauthorized", "forbidden", "rate_limited", "unavailable")
			}
			slices.Sort(got)
			if diff := gocmp.Diff(names, got); diff != "" {
				t.Errorf("shared/base/fault (-) and the client (+) differ:\n%s", diff)
			}
		})
	}
	t.Run("are made, and nothing else is", func(t *testing.T) {
		made := mustMadeCodes(t, root)
		for code := range listed {
			if made[code] == "" {
				t.Errorf("nothing makes %s", code)
			}
		}
		for code, at := range made {
			if listed[code] == 0 {
				t.Errorf("%s makes %s, which is not listed", at, code)
			}
		}
	})
}

// TestErrorsOfTheGateway checks that the REST API's own errors are problems.
func TestErrorsOfTheGateway(t *testing.T) {
	own := mustTemplate(t).RESTAPIs[0].Errors
	if len(own) < 8 {
		t.Fatalf("%d errors of the gateway", len(own))
	}
	for kind, e := range own {
		var body struct {
			Type          string
			Code          fault.Code
			Status        int
			Title, Detail string
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(e.Body, "$context.error.messageString", `"x"`)), &body); err != nil {
			t.Fatal(err)
		}
		status := problem.StatusOf(&fault.Error{Kind: body.Code.Kind(), Code: body.Code})
		byDefault, timeout := strings.HasPrefix(kind, "DEFAULT_"), kind == "INTEGRATION_TIMEOUT"
		if body.Type != problem.TypeOf(body.Code) || body.Title == "" || body.Detail != "x" ||
			byDefault != (body.Status == 0) || !byDefault && !timeout && body.Status != status {
			t.Errorf("%s: %+v, whose code has the status %d", kind, body, status)
		}
	}
}

// mustDocumentedCodes returns the codes that docs/errors.md explains, with the status
// of their section.
func mustDocumentedCodes(t *testing.T, root string) map[fault.Code]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[fault.Code]int{}
	status := 0
	entry := regexp.MustCompile(`^([a-z_]+)\n\S.*\. \*\*Do:\*\* \S.*\.\n`)
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		if status, err = strconv.Atoi(section[:3]); err != nil {
			t.Fatal(err)
		}
		for _, one := range strings.Split(section, "\n### ")[1:] {
			found := entry.FindStringSubmatch(one + "\n")
			if found == nil {
				t.Fatalf("no entry of a code: %q", one)
			}
			out[fault.Code(found[1])] = status
		}
	}
	return out
}

// mustMadeCodes returns the codes of the faults that functions make, and where.
func mustMadeCodes(t *testing.T, root string) map[fault.Code]string {
	t.Helper()
	constants := mustConstants(t, root)
	made := map[fault.Code]string{}
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "shared"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inFault := file.Name.Name == "fault"
		ast.Inspect(file, func(n ast.Node) bool {
			for _, code := range codesOf(t, n, constants, inFault, path) {
				made[code] = path
			}
			return true
		})
		return nil
	})
	if err != nil || files < 300 {
		t.Fatalf("read %d files: %v", files, err)
	}
	return made
}

// codesOf returns the codes that a node makes. Comparisons, and calls of fault.Of, make
// none.
func codesOf(t *testing.T, n ast.Node, constants map[string]fault.Code, inFault bool, path string) []fault.Code {
	t.Helper()
	var out []fault.Code
	switch n := n.(type) {
	case *ast.CallExpr:
		name := calledName(n)
		if name == "Missing" && len(n.Args) == 1 {
			if what, ok := n.Args[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(what.Value)
				if err != nil {
					t.Fatal(err)
				}
				return []fault.Code{fault.Missing(text).Code}
			}
		}
		if name == "Of" || len(n.Args) == 0 {
			return nil
		}
		for i, arg := range n.Args {
			selected := selectedName(arg)
			if code, ok := constants[selected]; ok {
				out = append(out, code)
			}
			withoutDefault := selected == "Conflict" || selected == "NotFound" || selected == "TooLarge"
			if i == 0 && withoutDefault && slices.Contains([]string{"New", "Field", "fieldFault"}, name) {
				t.Errorf("%s makes a fault of the kind %s without a code", path, selected)
			}
		}
	case *ast.AssignStmt:
		for _, value := range n.Rhs {
			if code, ok := constants[selectedName(value)]; ok {
				out = append(out, code)
			}
		}
	case *ast.ReturnStmt:
		for _, value := range n.Results { // the defaults of kinds
			if name, ok := value.(*ast.Ident); ok && inFault {
				if code, ok := constants[name.Name]; ok {
					out = append(out, code)
				}
			}
		}
	}
	return out
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// selectedName returns the name in an expression fault.Name, "" for another one.
func selectedName(e ast.Expr) string {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := selector.X.(*ast.Ident); !ok || of.Name != "fault" {
		return ""
	}
	return selector.Sel.Name
}

// mustConstants returns the codes by the names of their constants.
func mustConstants(t *testing.T, root string) map[string]fault.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "shared/base/fault/code.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]fault.Code{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				out[spec.Names[0].Name] = fault.Code(text)
			}
		}
		return true
	})
	return out
}
