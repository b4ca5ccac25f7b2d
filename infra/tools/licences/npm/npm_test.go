package npm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/licences/npm"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		packages string
		faults   []string
		shipped  int
	}{
		"one that is allowed":                 {`"node_modules/a": {"license": "MIT"}`, nil, 1},
		"one of two that may be chosen":       {`"node_modules/a": {"license": "(GPL-3.0-only OR Apache-2.0)"}`, nil, 1},
		"both must be, where both hold":       {`"node_modules/a": {"license": "MIT AND GPL-3.0-only"}`, []string{"node_modules/a is under MIT AND GPL-3.0-only"}, 1},
		"one that is not":                     {`"node_modules/a": {"license": "AGPL-3.0-or-later"}`, []string{"node_modules/a is under AGPL-3.0-or-later"}, 1},
		"one that says nothing":               {`"node_modules/a": {}`, []string{"node_modules/a names no licence"}, 1},
		"words of their own":                  {`"node_modules/a": {"license": "SEE LICENSE IN x"}`, []string{`node_modules/a: "SEE LICENSE IN x" is no licence that SPDX knows`}, 1},
		"what is not shipped may be anything": {`"": {}, "node_modules/a": {"license": "GPL-3.0-only", "dev": true}, "node_modules/b": {"link": true}`, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults, shipped, err := npm.Check([]byte(`{"packages": {`+test.packages+`}}`), []string{"MIT", "Apache-2.0"})
			if err != nil || shipped != test.shipped {
				t.Errorf("%d shipped, %v", shipped, err)
			}
			if diff := cmp.Diff(test.faults, faults); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("what is no lock", func(t *testing.T) {
		t.Parallel()
		if _, _, err := npm.Check([]byte("lock"), nil); err == nil {
			t.Error("no error")
		}
	})
}
