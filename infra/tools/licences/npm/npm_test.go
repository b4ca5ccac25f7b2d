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
		"an allowed licence":                     {`"node_modules/a": {"license": "MIT"}`, nil, 1},
		"a choice with an allowed licence":       {`"node_modules/a": {"license": "(GPL-3.0-only OR Apache-2.0)"}`, nil, 1},
		"a combination with a forbidden licence": {`"node_modules/a": {"license": "MIT AND GPL-3.0-only"}`, []string{"node_modules/a has the licence MIT AND GPL-3.0-only"}, 1},
		"a forbidden licence":                    {`"node_modules/a": {"license": "AGPL-3.0-or-later"}`, []string{"node_modules/a has the licence AGPL-3.0-or-later"}, 1},
		"no licence":                             {`"node_modules/a": {}`, []string{"node_modules/a has no licence"}, 1},
		"not an SPDX expression":                 {`"node_modules/a": {"license": "SEE LICENSE IN x"}`, []string{`node_modules/a: "SEE LICENSE IN x" is not an SPDX expression`}, 1},
		"packages that are not shipped":          {`"": {}, "node_modules/a": {"license": "GPL-3.0-only", "dev": true}, "node_modules/b": {"link": true}`, nil, 0},
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
	t.Run("refuses invalid JSON", func(t *testing.T) {
		t.Parallel()
		if _, _, err := npm.Check([]byte("lock"), nil); err == nil {
			t.Error("no error")
		}
	})
}
