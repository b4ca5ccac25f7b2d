package clock_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/base/clock"
)

func TestNew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clock")
	own, ahead := clock.New(""), clock.New(file)
	between := func(t *testing.T, now func() time.Time, ahead time.Duration) {
		t.Helper()
		from, got, to := time.Now().Round(0).Add(ahead), now(), time.Now().Round(0).Add(ahead)
		if got.Before(from) || got.After(to) {
			t.Errorf("%s is not between %s and %s", got, from, to)
		}
		if got != got.Round(0) {
			t.Errorf("%s has a reading of the monotonic clock", got)
		}
	}
	t.Run("without a file it is the machine's", func(t *testing.T) { between(t, own, 0) })
	t.Run("while the file is missing, too", func(t *testing.T) { between(t, ahead, 0) })
	for _, by := range []string{"1h0m0s", "2160h0m0s"} {
		t.Run("each reading is ahead by what the file says: "+by, func(t *testing.T) {
			mustWrite(t, file, by)
			want, err := time.ParseDuration(by)
			if err != nil {
				t.Fatal(err)
			}
			between(t, ahead, want)
		})
	}
	t.Run("a damaged file is named", func(t *testing.T) {
		mustWrite(t, file, "soon")
		if _, err := clock.Ahead(file); err == nil {
			t.Error("no error")
		}
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		ahead()
	})
}

func mustWrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
