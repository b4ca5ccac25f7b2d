package stores_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// staleHeader is an engine whose eventually consistent reads of one item show an
// earlier state of it.
type staleHeader struct {
	table.Engine
	of    table.Engine // without a lag
	mu    sync.Mutex
	shown []table.Item // nil until keep is called
	reads int
}

func newStaleHeader(of table.Engine) *staleHeader {
	e := &staleHeader{of: of}
	e.Engine = hooks.New(of, hooks.Hooks{Items: func(c hooks.Call, items []table.Item) []table.Item {
		e.mu.Lock()
		defer e.mu.Unlock()
		if c.Op != hooks.Get || c.Consistent || c.Keys[0].SK != "HEAD" || e.shown == nil {
			return items
		}
		e.reads++
		return e.shown
	}})
	return e
}

// keep makes the state that a session has now the one that is shown.
func (e *staleHeader) keep(t *testing.T, id string) {
	t.Helper()
	shown := []table.Item{}
	if item := storetest.Item(t, e.of, table.NewKey("S#"+id, "HEAD")); item != nil {
		shown = append(shown, item)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shown = shown
}

// A thread shows the session as it is now, whatever a lagging replica shows of it.
func TestThread_from_a_stale_header(t *testing.T) {
	t.Parallel()
	renamed := "renamed"
	for name, change := range map[string]func(*testing.T, *stores.Store){
		"of a session that was renamed": func(t *testing.T, s *stores.Store) {
			t.Helper()
			if _, err := s.Sessions.Update(t.Context(), alice, "s", session.Patch{Name: &renamed}); err != nil {
				t.Fatal(err)
			}
		},
		"of a session that was rewound": func(t *testing.T, s *stores.Store) {
			t.Helper()
			mustRewind(t, s, "s", "inv-3")
		},
		"of a session with a run": func(t *testing.T, s *stores.Store) {
			t.Helper()
			if err := startErr(t, s, "s", "run-1"); err != nil {
				t.Fatal(err)
			}
		},
		"of a session that was created again": func(t *testing.T, s *stores.Store) {
			t.Helper()
			if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
				t.Fatal(err)
			}
			chat(t, s, "s", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := newStaleHeader(storetest.Engine(t))
			s := stores.New(engine)
			chat(t, s, "s", 4)
			engine.keep(t, "s")
			change(t, s)
			for _, q := range []run.ThreadQuery{{Limit: 100}, {Limit: 100, Descending: true}} {
				before := engine.reads
				got, err := s.Runs.Thread(t.Context(), alice, "s", q)
				if err != nil {
					t.Fatal(err)
				}
				if engine.reads == before {
					t.Error("the header was not read with eventual consistency")
				}
				want, err := stores.New(engine.of).Runs.Thread(t.Context(), alice, "s", q)
				if err != nil {
					t.Fatal(err)
				}
				now, err := s.Sessions.Get(t.Context(), alice, "s")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(now, got.Session); diff != "" {
					t.Errorf("%+v: the session (-want +got):\n%s", q, diff)
				}
				if diff := cmp.Diff(texts(want.Items), texts(got.Items)); diff != "" {
					t.Errorf("%+v: the items (-want +got):\n%s", q, diff)
				}
			}
		})
	}

	t.Run("of a session that a replica does not know yet", func(t *testing.T) {
		t.Parallel()
		engine := newStaleHeader(storetest.Engine(t))
		s := stores.New(engine)
		engine.keep(t, "s")
		chat(t, s, "s", 1)
		if got, err := s.Runs.Thread(t.Context(), alice, "s", run.ThreadQuery{Limit: 100}); err != nil || len(got.Items) != 3 {
			t.Errorf("%d items, %v", len(got.Items), err)
		}
	})
}

// However a page of a thread is cut, and wherever it begins, its events are those of the
// log: the latest entry is not read twice.
func TestThread_pages_are_the_log(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	for n := range 5 {
		mustAppend(t, s, alice, "s", event(t, "", "i", string(rune('a'+2*n))), event(t, "", "i", string(rune('b'+2*n))))
	}
	mustAppend(t, s, alice, "s", event(t, "", "i", "z"), event(t, "", "i", randomText(t, 100_000))) // stored beside its entry
	want := texts(mustEvents(t, s, alice, "s", session.EventQuery{}))
	for limit := 1; limit <= 13; limit++ {
		var got []string
		q := run.ThreadQuery{Limit: limit}
		for more := true; more; {
			page, err := s.Runs.Thread(t.Context(), alice, "s", q)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, texts(page.Items)...)
			if more = page.Next != nil; more {
				q.Resume = *page.Next
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
}
