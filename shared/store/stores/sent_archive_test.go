package stores_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
)

// What agents were sent moves with the session while it is kept, and where it arrives for no
// longer than is kept there.
func TestSentRequests_archive(t *testing.T) {
	t.Parallel()
	limits, c, clock := keeping(quota.Limits{})
	s := newStore(t, limits, clock)
	mustCreate(t, s, alice, "s", nil)
	to := mustRunning(t, s, "r")
	mustKeep(t, s, to, 1, `{ "spaced": "é" }`)
	c.forward(time.Minute / 2)
	mustKeep(t, s, to, 2, "later")
	mustEnd(t, s, to.Ref, run.Completed, nil)
	want, _ := mustSent(t, s, "r", 9)
	doc := mustExport(t, s)

	in := func(days int64) ([]stores.Option, *calendar) {
		c := &calendar{}
		return []stores.Option{stores.WithQuotas(quota.Limits{RequestDays: days, Bytes: 1 << 30}), stores.WithClock(c.now)}, c
	}
	t.Run("all of it", func(t *testing.T) {
		opts, c := in(90)
		moved := mustMove(t, doc, opts...)
		got, _ := mustSent(t, moved, "r", 9)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		counted := bytesUsed(t, moved)
		c.forward(4 * day)
		if after := bytesUsed(t, moved); after >= counted {
			t.Errorf("%d bytes count, and %d when they have expired", counted, after)
		}
		wantSent(t, moved, "r")
	})
	t.Run("for the days of the other deployment", func(t *testing.T) {
		opts, c := in(1)
		moved := mustMove(t, doc, opts...)
		got, _ := mustSent(t, moved, "r", 9)
		if len(got) != 2 || time.Until(time.UnixMilli(got[1].ExpiresTime)) > day {
			t.Errorf("got %+v", got)
		}
		c.forward(day + time.Minute)
		wantSent(t, moved, "r")
	})
	t.Run("nothing where nothing is kept", func(t *testing.T) {
		opts, _ := in(0)
		wantSent(t, mustMove(t, doc, opts...), "r")
	})
	t.Run("nothing that has expired", func(t *testing.T) {
		c.forward(3*day + time.Minute)
		if doc := mustExport(t, s); bytes.Contains(doc, []byte(`"requests"`)) {
			t.Errorf("exported %s", doc)
		}
		if !bytes.Contains(doc, []byte(`"requests"`)) {
			t.Error("there were none before")
		}
	})
}
