package artifact_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/artifact"
)

// FuzzParseReference checks that a parsed reference encodes to one that refers to
// the same version.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{
		"artifact://session/s/report.md/0", "# why\r\nartifact://user/photo/12\r\n", "ARTIFACT://session/s/a%2Fb/1",
		"https://example.org/", "artifact://session/s/x/-1", "artifact://user//1", "artifact://session/s/n/1?x", "artifact://user/%zz/1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		target, err := artifact.ParseReference(list)
		if err != nil || target == nil {
			return
		}
		again, err := artifact.ParseReference([]byte(target.URI()))
		if err != nil {
			t.Fatalf("%q is written as %q, which is not read: %v", list, target.URI(), err)
		}
		if diff := cmp.Diff(target, again); diff != "" {
			t.Errorf("%q read again (-want +got):\n%s", list, diff)
		}
	})
}
