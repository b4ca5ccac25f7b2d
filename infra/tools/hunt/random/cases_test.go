package random_test

import (
	"testing"

	"github.com/rethread/rethread/infra/tools/hunt/random"
)

func TestCases(t *testing.T) {
	t.Parallel()
	output := `=== RUN   TestSum
    sum_test.go:30: 100 cases, PROPERTY_SEED=7
    sum_test.go:41: 20 sentences of 3 texts, PROPERTY_SEED=7
    sum_test.go:52: 5 histories, at least 4; PROPERTY_SEED=7
    sum_test.go:60: 9 cases without a seed
--- PASS: TestSum (0.00s)
random tests: PROPERTY_SEED=7
`
	if got := random.Cases([]byte(output)); got != 125 {
		t.Errorf("%d cases", got)
	}
	if got := random.Cases(nil); got != 0 {
		t.Errorf("%d cases of nothing", got)
	}
}
