package upgrade_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changed is an answer that a later version changed on purpose; docs/changelog.md
// says so to callers.
type changed struct {
	Reason string          `json:"reason"`
	User   string          `json:"user"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   string          `json:"body"`
	JSON   json.RawMessage `json:"json"` // the answer of this version
}

// answers returns the old version's answers, with those in changed.json replaced.
// An entry there that names no request, or that changes nothing, fails the test.
func (k kept) answers(t *testing.T) []answer {
	t.Helper()
	answers := mustRead[answer](t, k, "answers.jsonl.zst")
	raw, err := os.ReadFile(filepath.Join(k.folder, "changed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []changed
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		replaced := 0
		for i, a := range answers {
			if a.User != c.User || a.Method != c.Method || a.Path != c.Path || a.Body != c.Body {
				continue
			}
			if c.Reason == "" || cmp.Equal(decode(t, a.JSON), decode(t, c.JSON)) {
				t.Errorf("changed.json: %s %s %s has no reason or is no change", c.Method, c.Path, c.Body)
			}
			answers[i].JSON = c.JSON
			replaced++
		}
		if replaced == 0 {
			t.Errorf("changed.json: no request %s %s %s of %s", c.Method, c.Path, c.Body, c.User)
		}
	}
	return answers
}
