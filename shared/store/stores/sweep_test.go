package stores_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// sweptKind is a kind of swept item, as stored in the table. Unreadable ones have
// the wrong type in the named attribute.
// A sweeper removes leftovers of one kind and returns how many.
type sweeper func(context.Context) (int, error)

type sweptKind struct {
	partition string // of the index
	pk        func(i int) string
	sk        string
	more      map[string]types.AttributeValue
	broken    string
	sweep     func(*stores.Store) sweeper
}

func expire(s *stores.Store) sweeper {
	return func(ctx context.Context) (int, error) { return s.Runs.Expire(ctx, nil) }
}

func text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func one() types.AttributeValue          { return &types.AttributeValueMemberN{Value: "1"} }

func sweptKinds() map[string]sweptKind {
	log := func(i int) string { return fmt.Sprintf("L#log%03d", i) }
	return map[string]sweptKind{
		"runs": {
			partition: "RUN#2", pk: log, sk: "RUN", broken: "le", sweep: expire,
			more: map[string]types.AttributeValue{"id": text("r"), "u": text(alice), "s": text("gone"), "le": one()},
		},
		"sessions": {
			partition: "EXPIRE#1", pk: log, sk: "RT", broken: "u", sweep: func(s *stores.Store) sweeper { return s.Lifecycle.SweepRetention },
			more: map[string]types.AttributeValue{"u": text(alice), "s": text("gone")},
		},
		"imports": {
			partition: "IMPORT", pk: func(i int) string { return fmt.Sprintf("IM#user%03d", i) }, sk: "import", broken: "v",
			sweep: func(s *stores.Store) sweeper { return s.Archives.SweepImports },
			more:  map[string]types.AttributeValue{"s": text("s"), "l": text("log"), "st": text("open"), "v": one()},
		},
		"erasures": {
			partition: "ERASE", pk: func(i int) string { return fmt.Sprintf("ER#user%03d", i) }, sk: "ERASE", broken: "ct",
			sweep: func(s *stores.Store) sweeper { return s.Lifecycle.SweepErasures },
			more:  map[string]types.AttributeValue{"u": text("nobody"), "ct": one()},
		},
		"logs": {
			partition: "GONE", pk: log, sk: "E#~", broken: "ct", sweep: func(s *stores.Store) sweeper { return s.Lifecycle.Sweep },
			more: map[string]types.AttributeValue{"ct": one()},
		},
	}
}

// mustLay puts items into the table, numbered from first on, in the order of the
// index.
func (k sweptKind) mustLay(t *testing.T, engine table.Engine, first, n int, broken bool) {
	t.Helper()
	for i := first; i < first+n; i++ {
		item := map[string]types.AttributeValue{
			"PK": text(k.pk(i)), "SK": text(k.sk), "GPK": text(k.partition), "GSK": text(fmt.Sprintf("%013d#%d", i, i)),
		}
		for name, value := range k.more {
			item[name] = value
		}
		if broken {
			item[k.broken] = &types.AttributeValueMemberBOOL{Value: true}
		}
		storetest.Put(t, engine, item)
	}
}

// mustWait returns the positions of waiting items in the index.
func (k sweptKind) mustWait(t *testing.T, engine table.Engine) map[string]string {
	t.Helper()
	page, err := engine.Query(t.Context(), table.Query{Index: "activity", Partition: k.partition})
	if err != nil {
		t.Fatal(err)
	}
	waiting := map[string]string{}
	for _, item := range page.Items {
		waiting[storetest.Text(t, item, table.PK)] = storetest.Text(t, item, "GSK")
	}
	return waiting
}

// An unreadable item neither delays the items after it nor takes the time of the
// next sweep.
func TestSweep_unreadable_items(t *testing.T) {
	t.Parallel()
	const bad, good = 25, 7
	for name, kind := range sweptKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine, clock := storetest.Engine(t), &calendar{}
			s := stores.New(engine, stores.WithClock(clock.now))
			kind.mustLay(t, engine, 0, bad, true) // the oldest
			kind.mustLay(t, engine, bad, good, false)
			sweep := func() (float64, error) {
				ctx, recorder := metrics.With(t.Context())
				_, err := kind.sweep(s)(ctx)
				if skipped := recorder.Values()[metrics.ItemsSkipped]; len(skipped) > 0 {
					return skipped[0], err
				}
				return 0, err
			}
			skipped, err := sweep()
			if skipped != bad || err == nil || !strings.Contains(err.Error(), fmt.Sprint(bad, " items")) {
				t.Errorf("%v were skipped, %v", skipped, err)
			}
			if left := kind.mustWait(t, engine); len(left) != bad {
				t.Errorf("%d wait, want only the %d unreadable ones", len(left), bad)
			}
			if skipped, err := sweep(); skipped != 0 || err != nil {
				t.Errorf("the next sweep read %v of them again, %v", skipped, err)
			}
			clock.forward(5 * time.Minute)
			if skipped, err := sweep(); skipped != bad || err == nil {
				t.Errorf("after the pause: %v, %v", skipped, err)
			}
		})
	}
}

// A slow item is moved behind the others, so that they are processed.
func TestSweep_slow_item(t *testing.T) {
	t.Parallel()
	for name, kind := range sweptKinds() {
		if name == "runs" {
			continue // they are read together
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var blocked atomic.Bool
				engine := memory.New(store.Schema())
				s := before(engine, func(ctx context.Context, c hooks.Call) error {
					if blocked.Load() && reads(c, kind.pk(0)) {
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				})
				const n = 12
				kind.mustLay(t, engine, 0, n, false)
				blocked.Store(true)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				if _, err := kind.sweep(s)(ctx); err != nil {
					t.Fatal(err)
				}
				left := kind.mustWait(t, engine)
				if len(left) != 1 || left[kind.pk(0)] < "0000001" {
					t.Errorf("%v wait, want only the slow one, at the end", left)
				}
				blocked.Store(false)
				if _, err := kind.sweep(s.With(stores.WithClock(func() time.Time {
					return time.Now().Add(time.Second)
				})))(t.Context()); err != nil {
					t.Fatal(err)
				}
				if left := kind.mustWait(t, engine); len(left) > 0 {
					t.Errorf("%v still wait", left)
				}
			})
		})
	}
}

// reads reports whether a call reads an item of a partition, or queries it.
func reads(c hooks.Call, pk string) bool {
	return c.Op == hooks.Get && c.Keys[0].PK == pk || c.Op == hooks.Query && c.Query.Partition == pk
}

// A throttled table is not read for a while, and throttled items are handled once it
// has recovered.
func TestSweep_throttled(t *testing.T) {
	t.Parallel()
	const n = 60
	kind := sweptKinds()["sessions"]
	var refuse, gets atomic.Int64
	engine := storetest.Engine(t)
	s := before(engine, func(_ context.Context, c hooks.Call) error {
		if c.Op == hooks.Get && gets.Add(1) > 0 && refuse.Add(-1) >= 0 {
			return table.ErrThrottled
		}
		return nil
	})
	kind.mustLay(t, engine, 0, n, false)
	refuse.Store(3)
	if _, err := s.Lifecycle.SweepRetention(t.Context()); err == nil {
		t.Error("no error although three items were throttled")
	}
	if left := len(kind.mustWait(t, engine)); left != 3 {
		t.Errorf("%d wait, want the three that were throttled", left)
	}
	kind.mustLay(t, engine, 0, n, false)
	refuse.Store(1 << 30)
	gets.Store(0)
	if _, err := s.Lifecycle.SweepRetention(t.Context()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a table that throttles all: %v", err)
	}
	if got := gets.Load(); got > 20 {
		t.Errorf("it was called %d times in a row", got)
	}
	refuse.Store(0)
	later := s.With(stores.WithClock(func() time.Time { return time.Now().Add(time.Second) }))
	if _, err := later.Lifecycle.SweepRetention(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := kind.mustWait(t, engine); len(left) > 0 {
		t.Errorf("%v still wait", left)
	}
}

// An unreadable item of a user does not keep the user's other items from being
// erased.
func TestErase_unreadable_session(t *testing.T) {
	t.Parallel()
	engine, clock := storetest.Engine(t), &calendar{}
	s := stores.New(engine, stores.WithClock(clock.now))
	for _, id := range []string{"a", "b", "c"} {
		mustCreate(t, s, alice, id, nil)
	}
	fixture.CreateWebhook(t, s, fixture.Webhook(alice, "w", 1))
	storetest.Spoil(t, engine, table.NewKey("S#b", "HEAD"), table.Set(table.Path{"ct"}, "long ago"))
	clock.forward(time.Second)
	report, err := s.Lifecycle.Erase(t.Context(), alice)
	if err != nil || report.Removed.Sessions != 2 || report.Removed.Webhooks != 1 || report.Status == "complete" {
		t.Errorf("%+v, %v", report, err)
	}
	clock.forward(time.Minute)
	if n, err := s.Lifecycle.SweepErasures(t.Context()); n != 0 || err == nil {
		t.Errorf("an incomplete erasure is reported as complete: %d, %v", n, err)
	}
	storetest.Spoil(t, engine, table.NewKey("S#b", "HEAD"), table.Set(table.Path{"ct"}, 1)) // it was repaired
	clock.forward(5 * time.Minute)
	if n, err := s.Lifecycle.SweepErasures(t.Context()); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if report, err := s.Lifecycle.Erasure(t.Context(), alice); err != nil || report.Removed.Sessions != 3 || report.Status != "complete" {
		t.Errorf("%+v, %v", report, err)
	}
}

// A user whose webhooks are unreadable still gets notifications by other means.
func TestTargets_unreadable(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	rule := automation.Automation{
		ID: "a", UserID: alice, Name: "n", Status: automation.Active, Version: 1,
		On: automation.Trigger{Types: []string{"run.completed"}},
		Do: automation.Action{Agent: "default", Input: "x", Session: automation.New},
	}
	if _, err := s.Automations.CreateAutomation(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, engine, table.Item{"PK": text("HK#" + alice), "SK": text("HOOKS"), "h": text("none")})
	found, err := s.Targets(t.Context(), notification.Event{
		ID: "e", Type: notification.RunCompleted, UserID: alice, SessionID: "s", Log: "l", RunID: "r", Time: time.Now().UnixMilli(),
	})
	if len(found) != 1 || err != nil { // unreadable items are logged and counted
		t.Errorf("%+v, %v", found, err)
	}
}
