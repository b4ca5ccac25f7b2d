// Package outcome reads from what go test prints how a fuzz target ended.
package outcome

import (
	"bytes"
	"regexp"
)

var ended = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \(\S+\)\n    context deadline exceeded\nFAIL$`)

// OutOfTime reports whether a target failed only because it was still running at the
// end of its time, which go test sometimes takes for a failure. A fault comes with the
// input that shows it.
func OutOfTime(output []byte) bool {
	return ended.Match(output) && !bytes.Contains(output, []byte("Failing input"))
}
