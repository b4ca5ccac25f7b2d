package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestTimelineEncoding(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		want := timelines().Draw(t, "timeline")
		encoded := want.Encode()
		got, err := session.DecodeTimeline(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		cut := rapid.IntRange(0, len(encoded)-1).Draw(t, "cut")
		if _, err := session.DecodeTimeline(encoded[:cut]); err == nil {
			t.Fatalf("%d of %d bytes were read as a timeline", cut, len(encoded))
		}
	})
}
