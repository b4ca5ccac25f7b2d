package delay

import (
	"fmt"
	"strings"
	"time"
)

// newToken returns the n-th token of a run, with the time it was made.
func newToken(n int, at time.Time) string { return fmt.Sprintf("%d@%d ", n, at.UnixNano()) }

// tokensOf visits the tokens in a text; other text is skipped.
func tokensOf(text string, visit func(n int, at time.Time)) {
	for _, word := range strings.Fields(text) {
		var n int
		var nanos int64
		if _, err := fmt.Sscanf(word, "%d@%d", &n, &nanos); err == nil {
			visit(n, time.Unix(0, nanos))
		}
	}
}
