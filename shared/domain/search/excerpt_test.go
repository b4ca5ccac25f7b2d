package search_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/search"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("lorem ", 50)
	family := "👩\u200d👩\u200d👧"
	for name, c := range map[string]struct{ text, find, want string }{
		"a short text is whole": {"Lisbon is worth a trip.", "trip", "Lisbon is worth a trip."},
		"lines become one":      {"\n# Lisbon\n\n  is worth\ta trip\n", "trip", "# Lisbon is worth a trip"},
		"it begins at a word":   {words + "Lisbon", "lisbon", "…" + strings.Repeat("lorem ", 9) + "Lisbon"},
		"it ends after 200":     {"Lisbon " + strings.Repeat("x", 300), "lisbon", "Lisbon " + strings.Repeat("x", 193) + "…"},
		"emoji stay whole":      {"go " + strings.Repeat("x", 196) + family, "go", "go " + strings.Repeat("x", 196) + "…"},
		"emoji before it do too": {
			strings.Repeat(family, 30) + "東京", "東京", "…" + strings.Repeat(family, 11) + "東京",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, ok := search.Parse(c.find).Find(c.text)
			if got := search.Excerpt(c.text, at); !ok || got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
