package stores_test

import (
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
)

// limitCost is the cost of operations in a session of one store.
type limitCost struct{ create, turn, large, start, end, look, remove capacity.Usage }

// mustMeasure performs the same operations with any store: limits cost more only as
// docs/limits.md states.
func mustMeasure(t *testing.T, opts ...stores.Option) (c limitCost) {
	t.Helper()
	meter, clock := &capacity.Meter{}, &calendar{}
	s := stores.New(meter.Around(storetest.Engine(t)),
		append(opts, stores.WithClock(clock.now))...)
	measure := func(into *capacity.Usage, work func()) {
		t.Helper()
		before := meter.Total()
		work()
		*into = meter.Total().Sub(before)
	}
	mustCreate(t, s, alice, "first", nil) // costs that arise once for a user
	mustStart(t, s, startOf(t, "first", "r", "hi"))
	mustEnd(t, s, refOf("first", "r"), run.Completed, nil)

	measure(&c.create, func() { mustCreate(t, s, alice, "s", nil) })
	turn := event(t, "", "i", "hello")
	mustAppend(t, s, alice, "s", event(t, "", "i", "the invocation begins"))
	measure(&c.turn, func() { mustAppend(t, s, alice, "s", turn) })
	big := event(t, "", "i", letters(t, 100<<10))
	measure(&c.large, func() { mustAppend(t, s, alice, "s", big) })
	measure(&c.start, func() { mustStart(t, s, startOf(t, "s", "r", "hi")) })
	measure(&c.end, func() { mustEnd(t, s, refOf("s", "r"), run.Completed, nil) })
	if err := s.Sessions.Delete(t.Context(), alice, "first"); err != nil {
		t.Fatal(err)
	}
	clock.forward(59 * time.Minute)
	mustAppend(t, s, alice, "s", turn)
	clock.forward(2 * time.Minute)
	measure(&c.look, func() { mustSweep(t, s, 0) })
	measure(&c.remove, func() {
		if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
			t.Fatal(err)
		}
	})
	return c
}

// TestLimits_cost limits the cost of retention and quotas in capacity units. Index
// entries that a transaction writes count twice here, as DynamoDB Local and the
// memory engine report them; AWS charges them once.
func TestLimits_cost(t *testing.T) {
	t.Parallel()
	plain := mustMeasure(t)
	for _, c := range []struct {
		name string
		opt  stores.Option
		more func(*limitCost) // than without limits
	}{
		{"retention", stores.WithRetention(func(string) int64 { return 3600 }), func(c *limitCost) {
			c.create.Writes += 6 // two units become a transaction of six, with an index entry of two
			c.look.Writes += 3   // the timer, and its index entry
			c.look.Reads += 4
			c.remove.Writes += 4
			c.remove.Reads += 1
		}},
		{"a quota of sessions", stores.WithQuotas(quota.Limits{Sessions: 100}), func(c *limitCost) {
			c.create.Writes += 4
			c.create.Reads += 1
			c.remove.Writes += 2
			c.remove.Reads += 2
		}},
		{"a quota of runs", stores.WithQuotas(quota.Limits{Runs: 5}), func(c *limitCost) {
			c.start.Writes += 1
			c.end.Writes += 1
		}},
		{"a quota of bytes", stores.WithQuotas(quota.Limits{Bytes: 1 << 30}), func(c *limitCost) {
			c.create.Reads += 1
			c.large.Writes += 4
			c.large.Reads += 1
			c.start.Reads += 1
			c.remove.Writes += 2
			c.remove.Reads += 2 // its pages differ
		}},
	} {
		got, most := mustMeasure(t, c.opt), plain
		c.more(&most)
		for _, op := range []struct {
			name            string
			got, most, less capacity.Usage
		}{
			{"create", got.create, most.create, plain.create},
			{"turn", got.turn, most.turn, plain.turn},
			{"large append", got.large, most.large, plain.large},
			{"start", got.start, most.start, plain.start},
			{"end", got.end, most.end, plain.end},
			{"look", got.look, most.look, plain.look},
			{"delete", got.remove, most.remove, plain.remove},
		} {
			if op.got.Writes > op.most.Writes || op.got.Reads > op.most.Reads {
				t.Errorf("%s: %s costs %+v, at most %+v, without %+v", c.name, op.name, op.got, op.most, op.less)
			}
			t.Logf("%s: %s costs %+v, without %+v", c.name, op.name, op.got, op.less)
		}
	}
}
