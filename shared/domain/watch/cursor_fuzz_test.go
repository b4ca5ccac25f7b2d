package watch_test

import (
	"testing"

	"github.com/rethread/rethread/shared/domain/watch"
)

// FuzzParseCursor checks that a cursor has one spelling: a parsed cursor formats as
// its input.
func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"0.0.0", "1.42.7", "9223372036854775807.1.1", "01.2.3", "-1.0.0", "1.2", "1.2.3.4", "٣.1.1", " 1.2.3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := watch.ParseCursor(text)
		if err != nil {
			return
		}
		if c.Epoch < 0 || c.Seq < 0 || c.Offset < 0 {
			t.Errorf("%q is read as %+v", text, c)
		}
		if c.String() != text {
			t.Errorf("%q is written as %q", text, c)
		}
	})
}
