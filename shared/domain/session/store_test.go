package session_test

import (
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
)

func TestMatches(t *testing.T) {
	const name = "Sales in Zürich, third quarter"
	for _, c := range []struct {
		what string
		q    session.ListQuery
		want bool
	}{
		{"no condition", session.ListQuery{}, true},
		{"the text as it stands", session.ListQuery{Text: "in zürich, third"}, true},
		{"words in another order", session.ListQuery{Text: "QUARTER  sales"}, true},
		{"parts of words", session.ListQuery{Text: "quart ZÜR"}, true},
		{"a word that is missing", session.ListQuery{Text: "sales fourth"}, false},
		{"words run together", session.ListQuery{Text: "thirdquarter"}, false},
		{"spaces alone", session.ListQuery{Text: " \t"}, true},
		{"another agent", session.ListQuery{Text: "sales", Agent: "b"}, false},
		{"another status", session.ListQuery{Text: "sales", Status: "failed"}, false},
		{"all conditions", session.ListQuery{Text: "sales", Agent: "a", Status: "idle"}, true},
	} {
		if got := c.q.Matches("a", "idle", name); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}
