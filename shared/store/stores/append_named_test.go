package stores_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// redelivered requires that a batch is in the session already.
func redelivered(t *testing.T, s *stores.Store, events ...session.Event) {
	t.Helper()
	if _, n, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: events}); err != nil || n != 0 {
		t.Errorf("resend of %s: %d appended, %v; want a redelivery", events[0].ID, n, err)
	}
}

func refused(t *testing.T, s *stores.Store, events ...session.Event) {
	t.Helper()
	before := mustEvents(t, s, alice, "s", session.EventQuery{View: session.All})
	if _, n, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: events}); !errors.Is(err, fault.Of(fault.Conflict)) {
		t.Errorf("append of %s: %d appended, %v; want a conflict", events[0].ID, n, err)
	}
	if after := mustEvents(t, s, alice, "s", session.EventQuery{View: session.All}); len(after) != len(before) {
		t.Errorf("%d events after a refused append, want %d", len(after), len(before))
	}
}

// claims are the ids that have claims.
func claims(t *testing.T, of table.Engine) []string {
	t.Helper()
	var out []string
	for _, key := range keysIn(t, of) {
		if _, id, ok := strings.Cut(key, " D#"); ok {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// ofA is an event of the invocation a whose id names it.
func ofA(t *testing.T, n int) session.Event {
	t.Helper()
	return event(t, fmt.Sprint("a.", n), "a", fmt.Sprint("a", n))
}

func TestNamedIDs(t *testing.T) {
	t.Parallel()
	t.Run("need no claim within the opening of their invocation", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppend(t, s, alice, "s", ofA(t, 1), ofA(t, 2))
		mustAppend(t, s, alice, "s", ofA(t, 3))
		mustAppend(t, s, alice, "s", event(t, "", "a", "without an id"))
		mustAppend(t, s, alice, "s", ofA(t, 4))
		if got := claims(t, engine); len(got) > 0 {
			t.Errorf("claims %v", got)
		}
		for n := 4; n > 0; n-- {
			redelivered(t, s, ofA(t, n))
		}
		redelivered(t, s, ofA(t, 1), ofA(t, 4))
		refused(t, s, event(t, "a.1", "a", "other"))
		refused(t, s, ofA(t, 9), event(t, "a.4", "a", "other"))
	})
	t.Run("are found after their invocation's opening, and claimed there", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		for n := range 40 {
			mustAppend(t, s, alice, "s", ofA(t, n))
		}
		mustAppend(t, s, alice, "s", ofA(t, 50), event(t, "b.1", "b", "b1"))
		mustAppend(t, s, alice, "s", ofA(t, 60))
		mustAppend(t, s, alice, "s", ofA(t, 45))
		mustAppend(t, s, alice, "s", event(t, "c.1", "c", "c1"), ofA(t, 61))
		if diff := cmp.Diff([]string{"a.45", "a.60", "a.61"}, claims(t, engine)); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		for _, n := range []int{0, 39, 45, 50, 60, 61} {
			redelivered(t, s, ofA(t, n))
			refused(t, s, event(t, fmt.Sprint("a.", n), "a", "other"))
		}
		redelivered(t, s, event(t, "b.1", "b", "b1"), event(t, "c.1", "c", "c1"))
	})
	t.Run("are ordinary ids under another invocation", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppend(t, s, alice, "s", ofA(t, 1))
		refused(t, s, event(t, "a.1", "b", "a1"))
		refused(t, s, event(t, "b.1", "b", "fine"), event(t, "a.1", "b", "not"))
		mustAppend(t, s, alice, "s", event(t, "a.2", "b", "of b"), event(t, "step.1", "b", "of b"), event(t, "v2.0", "b", "of b"))
		redelivered(t, s, event(t, "a.2", "b", "of b"), event(t, "step.1", "b", "of b"))
		refused(t, s, ofA(t, 2))
		mustAppend(t, s, alice, "s", event(t, "c.7", "b", "before c"))
		mustAppend(t, s, alice, "s", event(t, "", "c", "the first of c"))
		refused(t, s, event(t, "c.7", "c", "its own"))
		mustAppend(t, s, alice, "s", event(t, "c.8", "c", "its own"))
		for _, id := range []string{"a.", ".1", "a.01", "a.1x", "a.-1", "a.+1", "a.1000000000", "a.1.x"} {
			mustAppend(t, s, alice, "s", event(t, id, "b", "names no invocation"))
		}
	})
	t.Run("in imported sessions are found, whatever invocation they name", func(t *testing.T) {
		t.Parallel()
		from := newStore(t)
		mustCreate(t, from, alice, "s", nil)
		for _, e := range [][2]string{{"a.2", "b"}, {"a.1", "a"}, {"z.1", "b"}, {"a.7", "b"}, {"b.9", "b"}} {
			mustAppend(t, from, alice, "s", event(t, e[0], e[1], "as then"))
		}
		s := mustMove(t, mustExport(t, from))
		redelivered(t, s, event(t, "z.1", "b", "as then"), event(t, "a.1", "a", "as then"))
		redelivered(t, s, event(t, "a.2", "b", "as then"), event(t, "b.9", "b", "as then"))
		for _, id := range []string{"a.2", "a.7"} {
			refused(t, s, event(t, id, "a", "as then"))
		}
		refused(t, s, event(t, "z.1", "z", "as then"))
		refused(t, s, event(t, "b.9", "a", "as then"))
		mustAppend(t, s, alice, "s", event(t, "z.2", "z", "new"), event(t, "a.3", "a", "new"))
		refused(t, s, event(t, "z.1", "z", "as then"))
	})
}

// A turn whose ids name their invocation costs as many write units in a resend of
// everything as reading; and a late event of an old invocation as much as an early one.
func TestNamedIDs_cost(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)))
	mustCreate(t, s, alice, "s", nil)
	for n := range 200 {
		mustAppend(t, s, alice, "s", event(t, fmt.Sprint("a.", n), "a", "text"))
	}
	cost := func(name string, reads, writes float64, do func()) {
		t.Helper()
		const late = 0.5 // an append's look at the list of sessions may outlast it
		before := meter.Total()
		do()
		if u := meter.Total().Sub(before); u.Reads > reads+late || u.Writes > writes {
			t.Errorf("%s: %+v, at most %v reads and %v writes", name, u, reads+late, writes)
		}
	}
	cost("another event of the opening", 2, 1, func() { mustAppend(t, s, alice, "s", event(t, "a.200", "a", "text")) })
	cost("the newest event again", 2, 0, func() { redelivered(t, s, event(t, "a.200", "a", "text")) })
	cost("one of ten events ago", 4, 0, func() { redelivered(t, s, event(t, "a.190", "a", "text")) })
	for n := range 300 {
		mustAppend(t, s, alice, "s", event(t, fmt.Sprint("b", n, ".1"), fmt.Sprint("b", n), "text"))
	}
	cost("the first late event of a long opening", 40, 5, func() { mustAppend(t, s, alice, "s", event(t, "a.300", "a", "late")) })
	mustAppend(t, s, alice, "s", event(t, "c.1", "c", "text"))
	cost("the second", 2, 3, func() { mustAppend(t, s, alice, "s", event(t, "a.301", "a", "late")) })
	cost("the third", 3, 2, func() { mustAppend(t, s, alice, "s", event(t, "a.302", "a", "late")) })
}

// during runs do once, before the nth call of an engine other than readsNewest.
func during(of table.Engine, nth int, do func()) (engine table.Engine, calls func() int) {
	var mu sync.Mutex
	n := 0
	return storetest.Before(of, func(_ context.Context, c hooks.Call) error {
		if readsNewest(c) {
			return nil
		}
		mu.Lock()
		n++
		now := n == nth
		mu.Unlock()
		if now {
			do()
		}
		return nil
	}), func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// Two appends of whatever ids, one of them between any two requests of the other,
// store each id once.
func TestNamedIDs_at_the_same_time(t *testing.T) {
	t.Parallel()
	e := func(id, invocation string) session.Event { return event(t, id, invocation, id) }
	batches := map[string][]session.Event{
		"a.1":             {e("a.1", "a")},
		"a.2":             {e("a.2", "a")},
		"a.1 a.2":         {e("a.1", "a"), e("a.2", "a")},
		"a.2 b.1":         {e("a.2", "a"), e("b.1", "b")},
		"b.1":             {e("b.1", "b")},
		"b.1 a.1":         {e("b.1", "b"), e("a.1", "a")},
		"x":               {e("x", "a")},
		"x a.2 b.1":       {e("x", "a"), e("a.2", "a"), e("b.1", "b")},
		"one without":     {event(t, "", "a", "anonymous")},
		"one of another":  {event(t, "", "c", "anonymous")},
		"a.1 and without": {e("a.1", "a"), event(t, "", "b", "anonymous")},
	}
	names := slices.Sorted(maps.Keys(batches))
	befores := [][]string{nil, {"a.1"}, {"a.1", "b.1"}, {"one without"}, {"a.2", "one of another"}, {"b.1", "a.2 b.1"}}
	engine, cases := storetest.Engine(t), 0
	if !storetest.InMemory() { // it is slow
		befores, names = befores[1:2], names[:4]
	}
	for _, before := range befores {
		for _, outer := range names {
			for _, inner := range names {
				for nth, more := 1, true; more; nth++ {
					cases++
					more = betweenRequests(t, engine, fmt.Sprint("s", cases), batches, before, outer, inner, nth)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if least := map[bool]int{true: 4000, false: 60}[storetest.InMemory()]; cases < least {
		t.Errorf("only %d cases", cases)
	}
}

// betweenRequests plays one case, and reports whether the outer append made as many
// requests.
func betweenRequests(
	t *testing.T, engine table.Engine, id string, batches map[string][]session.Event, before []string, outer, inner string, nth int,
) bool {
	t.Helper()
	plain := stores.New(engine)
	mustCreate(t, plain, alice, id, nil)
	name := fmt.Sprintf("%s before request %d of %s after %v", inner, nth, outer, before)
	send := func(s *stores.Store, batch string) {
		if _, _, err := s.Sessions.Append(t.Context(), session.Append{SessionID: id, UserID: alice, Events: slices.Clone(batches[batch])}); err != nil {
			t.Errorf("%s: append %s: %v", name, batch, err)
		}
	}
	for _, b := range before {
		send(plain, b)
	}
	wrapped, calls := during(engine, nth, func() { send(plain, inner) })
	send(stores.New(wrapped), outer)
	if calls() < nth {
		return false
	}
	for _, b := range slices.Concat(before, []string{inner, outer}) {
		for _, e := range batches[b] {
			if e.ID == "" {
				continue
			}
			if _, n, err := plain.Sessions.Append(t.Context(), session.Append{SessionID: id, UserID: alice, Events: []session.Event{e}}); err != nil || n != 0 {
				t.Errorf("%s: resend of %s: %d appended, %v", name, e.ID, n, err)
			}
		}
	}
	once(t, name, mustEvents(t, plain, alice, id, session.EventQuery{View: session.All}))
	return true
}

// once requires that no id is stored twice.
func once(t rapid.TB, name string, events []session.Event) map[string]session.Event {
	t.Helper()
	byID := map[string]session.Event{}
	for _, e := range events {
		if _, twice := byID[e.ID]; twice {
			t.Errorf("%s: %s is stored twice", name, e.ID)
		}
		byID[e.ID] = e
	}
	return byID
}
