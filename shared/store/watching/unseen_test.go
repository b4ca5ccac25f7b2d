package watching_test

import (
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/store/stores"
)

func TestUnseen(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	s := fixture.Store(t, stores.WithClock(func() time.Time { return now }))
	want := func(run string) {
		t.Helper()
		if got, err := s.Watching.Unseen(t.Context(), "s"); got != run || err != nil {
			t.Errorf("got %q %v, want %q", got, err, run)
		}
	}
	want("")
	for _, run := range []string{"r1", "r2"} {
		if err := s.Watching.NoteUnseen(t.Context(), "s", run); err != nil {
			t.Fatal(err)
		}
		want(run)
	}
	now = now.Add(15 * time.Minute)
	want("")
	now = now.Add(-time.Minute)
	want("r2")
	if err := s.Watching.ForgetUnseen(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	want("")
}
