package upgrade_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
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

// mustAnswers returns the old version's answers, with those in changed.json replaced.
// An entry there that names no request, or that changes nothing, fails the test.
func mustAnswers(t *testing.T) []answer {
	t.Helper()
	answers := mustRead[answer](t, "answers.jsonl.zst")
	raw, err := os.ReadFile(file("changed.json"))
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
	inPages(answers)
	exactly(answers)
	return answers
}

// inPages adds to the trees of forks where their next page begins: none has one.
func inPages(answers []answer) {
	for i, a := range answers {
		if strings.HasSuffix(a.Path, "/forks") && a.Status == http.StatusOK {
			whole := slices.Clone(a.JSON)
			answers[i].JSON = append(whole[:len(whole)-1], `,"meta":{"next_cursor":null}}`...)
		}
	}
}

// exactly asks the lists of sessions for what they had unasked.
func exactly(answers []answer) {
	for i, a := range answers {
		if a.Method == http.MethodGet && strings.HasPrefix(a.Path, "/sessions?") && a.Status == http.StatusOK {
			answers[i].Path += "&exact=true"
		}
	}
}
