package stores_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// An id that names another invocation and the same id of that invocation meet at every
// request of either append: one of them is stored.
func TestNamedIDs_of_another_invocation_at_the_same_time(t *testing.T) {
	t.Parallel()
	own, foreign := event(t, "a.2", "a", "own"), event(t, "a.2", "b", "foreign")
	cases := 0
	for name, before := range map[string][][]session.Event{
		"an empty log": nil, "an opening": {{ofA(t, 1)}}, "an opening of others": {{event(t, "", "c", "c")}},
		"the end of an opening": {{ofA(t, 1)}, {event(t, "c.1", "c", "c")}}, "a first entry without a number": {{event(t, "", "a", "a")}},
		"another foreign id": {{event(t, "a.9", "c", "c")}}, "the same entry": {{event(t, "a.5", "c", "c"), ofA(t, 1)}},
	} {
		for _, both := range [][]session.Event{{own, foreign}, {foreign, own}} {
			for nth := 1; ; nth++ {
				engine := storetest.Engine(t)
				plain := stores.New(engine)
				mustCreate(t, plain, alice, "s", nil)
				for _, batch := range before {
					mustAppend(t, plain, alice, "s", batch...)
				}
				send := func(s *stores.Store, e session.Event) bool {
					_, _, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{e}})
					if err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
						t.Errorf("%s, %d: %v", name, nth, err)
					}
					return err == nil
				}
				inner := false
				wrapped, calls := during(engine, nth, func() { inner = send(plain, both[1]) })
				outer := send(stores.New(wrapped), both[0])
				if calls() < nth {
					break
				}
				cases++
				if inner == outer {
					t.Errorf("%s, %d: both appends ended with %t", name, nth, inner)
				}
				once(t, name, mustEvents(t, plain, alice, "s", session.EventQuery{View: session.All}))
			}
		}
	}
	if cases < 60 {
		t.Errorf("%d cases, want 60", cases)
	}
}

// Writers send events again and again, in any order and combination, while answers of
// the table are lost: each id is stored once, with its content, and what was answered
// is stored.
func TestNamedIDs_resent_by_several_writers(t *testing.T) {
	t.Parallel()
	seed := property.Rand(t, 46)
	sent := 0
	storetest.Check(t, 5, func(r *rapid.T) {
		engine := storetest.Engine(t)
		s := stores.New(storetest.LosingAnswers(engine, 0.1, seed))
		mustCreate(t, s, alice, "s", nil)
		ids := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [2]string {
			invocation := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "invocation")
			if rapid.IntRange(0, 4).Draw(r, "any id") == 0 {
				return [2]string{fmt.Sprint("id-", rapid.IntRange(0, 5).Draw(r, "id"), "-", invocation), invocation}
			}
			named := invocation
			if rapid.IntRange(0, 4).Draw(r, "another's id") == 0 {
				named = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "named")
			}
			return [2]string{fmt.Sprint(named, ".", rapid.IntRange(0, 6).Draw(r, "n")), invocation}
		}), 1, 12)
		plans := make([][][][2]string, rapid.IntRange(1, 4).Draw(r, "writers"))
		for w := range plans {
			plans[w] = rapid.SliceOfN(rapid.Map(ids, distinct), 1, 8).Draw(r, "batches")
		}
		var mu sync.Mutex
		acked := map[string]string{} // invocations, by id
		var conflicts [][][2]string
		var wg sync.WaitGroup
		for _, plan := range plans {
			wg.Go(func() {
				for _, ids := range plan {
					var batch []session.Event
					for _, id := range ids {
						batch = append(batch, event(t, id[0], id[1], id[0]))
					}
					stored, _, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: batch})
					if err != nil {
						if !errors.Is(err, fault.Of(fault.Busy)) && !errors.Is(err, fault.Of(fault.Conflict)) {
							t.Errorf("append %v: %v", ids, err)
						}
						if errors.Is(err, fault.Of(fault.Conflict)) {
							mu.Lock()
							conflicts = append(conflicts, ids)
							mu.Unlock()
						}
						continue
					}
					mu.Lock()
					for i, e := range stored {
						sent++
						acked[e.ID] = e.InvocationID
						if e.ID != ids[i][0] {
							t.Errorf("answered %s for %s", e.ID, ids[i][0])
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		byID := once(r, "", mustEvents(t, s, alice, "s", session.EventQuery{View: session.All, Limit: 1000}))
		for id, invocation := range acked {
			if got, ok := byID[id]; !ok || !got.SameAs(event(t, id, invocation, id)) {
				r.Errorf("%s of %s is stored as %+v", id, invocation, got)
			}
		}
		for _, ids := range conflicts {
			if !slices.ContainsFunc(ids, func(id [2]string) bool { return byID[id[0]].ID != "" && byID[id[0]].InvocationID != id[1] }) {
				r.Errorf("the batch %v conflicts with nothing", ids)
			}
		}
	})
	t.Logf("%d events sent", sent)
}

func distinct(ids [][2]string) [][2]string {
	seen := map[string]bool{}
	return slices.DeleteFunc(ids, func(id [2]string) bool {
		twice := seen[id[0]]
		seen[id[0]] = true
		return twice
	})
}
