package samtemplate_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	const template = head + `Parameters:
  Number: {Type: Number, Default: 0, MinValue: 0, MaxValue: 10}
  Pattern: {Type: String, Default: "", AllowedPattern: "[1-9][0-9]*s|"}
  Described: {Type: String, Default: https://x, AllowedPattern: "^https://.+", ConstraintDescription: an address}
  Listed: {Type: String, Default: a, AllowedValues: [a, "true"]}
  Long: {Type: String, Default: abc, MinLength: 2, MaxLength: 3}
Resources: {}`
	for _, test := range []struct{ name, value, refused string }{
		{"Number", "10", ""},
		{"Number", "11", `parameter Number cannot be "11": it must be at most 10`},
		{"Number", "-1", "at least 0"},
		{"Number", "many", "a number"},
		{"Pattern", "30s", ""},
		{"Pattern", "", ""},
		{"Pattern", "30s ", "text that matches [1-9][0-9]*s|"},
		{"Pattern", "soon", "text that matches"},
		{"Described", "http://x", "an address"},
		{"Listed", "true", ""},
		{"Listed", "b", `one of ["a" "true"]`},
		{"Long", "äöü", ""},
		{"Long", "a", "another length"},
		{"Long", "abcd", "another length"},
	} {
		_, err := samtemplate.Parse([]byte(template), samtemplate.Options{Parameters: map[string]string{test.name: test.value}})
		switch {
		case test.refused == "" && err != nil:
			t.Errorf("%s=%q: %v", test.name, test.value, err)
		case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
			t.Errorf("%s=%q: got %v, want a refusal with %s", test.name, test.value, err, test.refused)
		}
	}
	if _, err := samtemplate.Parse([]byte(template), samtemplate.Options{Defaults: map[string]string{"Described": "http://x"}}); err != nil {
		t.Errorf("the rules hold for a default of the host: %v", err)
	}
}
