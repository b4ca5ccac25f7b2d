package random

import (
	"regexp"
	"strconv"

	"github.com/rethread/rethread/infra/test/property"
)

// reported is the line in which a test says how many cases of which kind it drew, and
// its seed.
var reported = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (\d+) .*\b` + property.Variable + `=\d`)

// Cases returns how many cases tests drew, by the output of `go test -v`.
func Cases(output []byte) (n int) {
	for _, match := range reported.FindAllSubmatch(output, -1) {
		cases, _ := strconv.Atoi(string(match[1])) // digits
		n += cases
	}
	return n
}
