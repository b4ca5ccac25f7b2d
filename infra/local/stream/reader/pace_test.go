package reader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/infra/local/stream/reader"
)

// pollsOf counts the polls of a stream without records in a time.
func pollsOf(t *testing.T, writes *reader.Writes, during time.Duration) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	polls := 0
	err := reader.Poll(ctx, writes, func() bool { polls++; return false })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	return polls
}

func TestPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if n := pollsOf(t, nil, 10*time.Second); n < 100 || n > 140 {
			t.Errorf("a quiet stream is polled %d times in ten seconds, want 100 to 140", n)
		}
		if n := pollsOf(t, &reader.Writes{}, 10*time.Second); n < 20 || n > 30 {
			t.Errorf("a quiet stream with announcements is polled %d times in ten seconds, want 20 to 30", n)
		}
	})
}

// A record becomes visible a moment after its write, which is announced at any time.
func TestAnnouncedWrites(t *testing.T) {
	t.Parallel()
	const most = 30 * time.Millisecond
	for _, at := range []time.Duration{
		0, time.Millisecond, 7 * time.Millisecond, 60 * time.Millisecond, 99 * time.Millisecond, 101 * time.Millisecond,
		120 * time.Millisecond, time.Second, 90 * time.Second,
	} {
		for _, later := range []time.Duration{0, 2 * time.Millisecond, 20 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				var writes reader.Writes
				began := time.Now()
				time.AfterFunc(at, writes.Announce)
				visible := began.Add(at + later)
				if err := reader.Poll(t.Context(), &writes, func() bool { return !time.Now().Before(visible) }); err != nil {
					t.Fatal(err)
				}
				if late := time.Since(visible); late > most {
					t.Errorf("a record that is visible %s after its write at %s is read %s later, want up to %s", later, at, late, most)
				}
			})
		}
	}
}

func TestUnannouncedWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		visible := time.Now().Add(10*time.Second + time.Millisecond)
		err := reader.Poll(t.Context(), &reader.Writes{}, func() bool { return !time.Now().Before(visible) })
		if late := time.Since(visible); err != nil || late > 500*time.Millisecond {
			t.Errorf("a write that is not announced is read %s later, %v", late, err)
		}
	})
}
