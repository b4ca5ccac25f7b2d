package outcome_test

import (
	"testing"

	"github.com/rethread/rethread/infra/tools/fuzz/outcome"
)

func TestOutOfTime(t *testing.T) {
	t.Parallel()
	const progress = "fuzz: elapsed: 5s, execs: 185883 (33822/sec), new interesting: 13 (total: 172)\n"
	for name, c := range map[string]struct {
		output string
		want   bool
	}{
		"accepts the end of the time": {
			progress + "--- FAIL: FuzzParseEvent (5.23s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true,
		},
		"refuses a fault": {
			progress + "--- FAIL: FuzzParse (0.03s)\n    --- FAIL: FuzzParse (0.00s)\n        parse_test.go:9: lost\n" +
				"    \n    Failing input written to testdata/fuzz/FuzzParse/3c\nFAIL\n", false,
		},
		"refuses a fault at the end of the time": {
			progress + "--- FAIL: FuzzParse (5.03s)\n    context deadline exceeded\nFAIL\n    Failing input written to testdata/fuzz/FuzzParse/3c\n", false,
		},
		"refuses a package that does not build": {"FAIL\texample [build failed]\nFAIL\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := outcome.OutOfTime([]byte(c.output)); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
