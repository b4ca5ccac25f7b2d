// Package awsevents gives tests the events that AWS services send, as captured in
// the test data of aws-lambda-go, and compares other events with them.
package awsevents

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/aws/aws-lambda-go"

// Captured returns an event of aws-lambda-go's test data, such as
// "apigw-v2-request-jwt-authorizer".
func Captured(t testing.TB, name string) []byte {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("find %s: %v", module, err)
	}
	event, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "events", "testdata", name+".json")) //nolint:gosec // tests name the file
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// Shape lists how an event may differ from a captured one. Paths name members,
// separated by dots.
type Shape struct {
	// Free are objects whose member names come from requests, such as headers.
	Free []string
	// Absent are members of the captured event that the other may lack: those that
	// belong to configurations not used here.
	Absent []string
	// Added are documented members that the captured event lacks.
	Added []string
}

// Compare returns how an event differs from a captured one beyond the shape, and
// the number of members they have in common.
func (s Shape) Compare(event, captured []byte) (same int, differences []string, err error) {
	var got, want map[string]any
	if err := errors.Join(json.Unmarshal(event, &got), json.Unmarshal(captured, &want)); err != nil {
		return 0, nil, fmt.Errorf("decode event: %w", err)
	}
	have, wanted := map[string]string{}, map[string]string{}
	s.members(have, "", got)
	s.members(wanted, "", want)
	for path, kind := range wanted {
		switch found, ok := have[path]; {
		case !ok && !under(s.Absent, path):
			differences = append(differences, path+" is missing")
		case ok && found != kind && found != null && kind != null:
			differences = append(differences, fmt.Sprintf("%s is a %s, want a %s", path, found, kind))
		case ok:
			same++
		}
	}
	for path := range have {
		if _, ok := wanted[path]; !ok && !under(s.Added, path) {
			differences = append(differences, path+" is not in the captured event")
		}
	}
	slices.Sort(differences)
	return same, differences, nil
}

const null = "null"

func (s Shape) members(into map[string]string, at string, object map[string]any) {
	for name, value := range object {
		path := strings.TrimPrefix(at+"."+name, ".")
		into[path] = kindOf(value)
		if inner, ok := value.(map[string]any); ok && !slices.Contains(s.Free, path) {
			s.members(into, path, inner)
		}
	}
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return null
	case string:
		return "text"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "list"
	default:
		return "object"
	}
}

func under(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return path == p || strings.HasPrefix(path, p+".") })
}
