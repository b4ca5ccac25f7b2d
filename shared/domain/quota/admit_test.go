package quota_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

// exceeds reports whether an error says that a quota is used up, with its limit.
func exceeds(err error, name string, limit, used int64) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Busy && f.RetryAfter > 0 &&
		f.Extra["quota"] == name && f.Extra["limit"] == limit && f.Extra["used"] == used
}

func TestLimits_AdmitBytes(t *testing.T) {
	t.Parallel()
	l := quota.Limits{Bytes: 10}
	if err := l.AdmitBytes(9); err != nil {
		t.Errorf("below the limit: %v", err)
	}
	if err := l.AdmitBytes(10); !exceeds(err, quota.Bytes, 10, 10) {
		t.Errorf("at the limit: %v", err)
	}
	if err := (quota.Limits{}).AdmitBytes(1 << 40); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

func TestLimits_AdmitSession(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000_000)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	long := ago(time.Hour)
	for name, c := range map[string]struct {
		count   quota.SessionCount
		recount bool
		refused bool
	}{
		"were never counted":                     {recount: true},
		"are fewer than the limit":               {count: quota.SessionCount{Known: true, Number: 2, Created: ago(0), Counted: ago(0)}},
		"are as many, and were just counted":     {count: quota.SessionCount{Known: true, Number: 3, Created: long, Counted: ago(59 * time.Second)}, refused: true},
		"are as many, counted a minute ago":      {count: quota.SessionCount{Known: true, Number: 3, Created: long, Counted: ago(time.Minute)}, recount: true},
		"are as many, and one was just made":     {count: quota.SessionCount{Known: true, Number: 3, Created: ago(4 * time.Second), Counted: long}, refused: true},
		"are as many, one made five seconds ago": {count: quota.SessionCount{Known: true, Number: 3, Created: ago(5 * time.Second), Counted: long}, recount: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recount, err := quota.Limits{Sessions: 3}.AdmitSession(c.count, now)
			if recount != c.recount || c.refused != exceeds(err, quota.Sessions, 3, 3) || !c.refused && err != nil {
				t.Errorf("recount %t, %v", recount, err)
			}
		})
	}
	if err := (quota.Limits{Sessions: 3}).AdmitCounted(2); err != nil {
		t.Errorf("a count below the limit: %v", err)
	}
	if err := (quota.Limits{Sessions: 3}).AdmitCounted(4); !exceeds(err, quota.Sessions, 3, 4) {
		t.Errorf("a count above the limit: %v", err)
	}
}

func TestFreeSlots(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	taken := map[string]int64{"at work": 0, "over": 0, "just over": now - 60_001, "may be starting": now - 60_000}
	want := []string{"just over", "over"}
	if diff := cmp.Diff(want, quota.FreeSlots(taken, map[string]bool{"at work": true}, now)); diff != "" {
		t.Errorf("free slots (-want +got):\n%s", diff)
	}
	if err := (quota.Limits{Runs: 2}).RunsExceeded(2, "runs"); !exceeds(err, quota.Runs, 2, 2) {
		t.Errorf("no slot is free: %v", err)
	}
}
