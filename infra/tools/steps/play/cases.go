package play

import (
	"regexp"
	"strconv"
)

// Cases returns the number of cases that a step's output reports, in the words of the
// programs that count them. Skipped ones do not count.
func Cases(output []byte) (n int) {
	output = regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAll(output, nil)
	for _, report := range []string{
		`(?m)^DONE (\d+) tests?(?:, (\d+) skipped)?`,         // gotestsum
		`(?m)^ +Tests +(?:\d+ failed \| )?(\d+) passed`,      // vitest
		`(?m)^(?:=+ )?(\d+) passed(?:, [\d\w ,]+)? in [\d.]`, // pytest
		`(?m)^ +(\d+) passed \(`,                             // playwright
		`(?m)^(?:#|ℹ) pass (\d+)$`,                           // node --test
		`(?m)^ +(\d+) generated\b`,                           // schemathesis
		`(?m)^ok   .+: (\d+) checks in `,                     // stories of clients
		`(?m)^(\d+) generated clients told the story`,
		`(?m)^\d+ rounds: .* (\d+) checks: \d+ violations$`, // chaos
		`(?m)^.+: (\d+) turns .* W .* R; rewind`,            // peers
		`(?m)^fuzz: (\d+) targets `,
		`(?m)^cases: (\d+)$`,
	} {
		for _, found := range regexp.MustCompile(report).FindAllSubmatch(output, -1) {
			n += number(found[1])
			if len(found) > 2 {
				n -= number(found[2])
			}
		}
	}
	return n
}

// number reads digits; a group that is absent counts nothing.
func number(digits []byte) int {
	n, _ := strconv.Atoi(string(digits))
	return n
}
