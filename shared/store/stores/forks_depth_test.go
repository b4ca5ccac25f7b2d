package stores_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// deepFork makes a chain of forks, each with an event of its own, and returns the name of
// the deepest. The session at its root has an event and a task.
func deepFork(t *testing.T, s *stores.Store, depth int) string {
	t.Helper()
	mustCreate(t, s, alice, "d0", nil)
	mustAppend(t, s, alice, "d0", event(t, "", "i0", "hello"))
	mustSave(t, s, "d0", "t0", bubbles("0"), "i0")
	for n := 1; n <= depth; n++ {
		id := fmt.Sprint("d", n)
		mustFork(t, s, fmt.Sprint("d", n-1), id, nil)
		mustAppend(t, s, alice, id, event(t, "", fmt.Sprint("i", n), "hello"))
	}
	return fmt.Sprint("d", depth)
}

func bubbles(id string) string { return `[{"id":"` + id + `","type":"user"}]` }

// atDepth measures what is done in a fork at a depth, in memory: chains of a thousand
// forks take minutes on DynamoDB Local.
func atDepth(t *testing.T, depth int) map[string]capacity.Usage {
	t.Helper()
	meter := &capacity.Meter{}
	engine := meter.Around(memory.New(store.Schema()))
	var passed atomic.Int64 // the order of a user's sessions is that of their times
	clock := stores.WithClock(func() time.Time { return time.UnixMilli(1_700_000_000_000 + passed.Add(1)) })
	deep := deepFork(t, stores.New(engine, clock), depth)
	out := map[string]capacity.Usage{}
	measure := func(name string, work func(*stores.Store) error) {
		t.Helper()
		s, before := stores.New(engine, clock), meter.Total() // an instance that has read nothing yet
		if err := work(s); err != nil {
			t.Fatalf("%s at depth %d: %v", name, depth, err)
		}
		out[name] = meter.Total().Sub(before)
	}
	var inherited string
	measure("list", func(s *stores.Store) error {
		page, err := s.Tasks.Tasks(t.Context(), task.Query{UserID: alice, SessionID: deep})
		if err == nil && len(page.Tasks) != 1 {
			err = fmt.Errorf("%d tasks", len(page.Tasks))
		}
		if err == nil {
			inherited = page.Tasks[0].ID
		}
		return err
	})
	measure("task by id", func(s *stores.Store) error {
		_, err := s.Tasks.Task(t.Context(), alice, deep, inherited)
		return err
	})
	measure("new task", func(s *stores.Store) error {
		mustSave(t, s, deep, "new", bubbles("1"))
		return nil
	})
	measure("fork", func(s *stores.Store) error { mustFork(t, s, deep, "again", nil); return nil })
	measure("delete", func(s *stores.Store) error { return s.Sessions.Delete(t.Context(), alice, "again") })
	measure("fork before the first", func(s *stores.Store) error { mustFork(t, s, deep, "first", new("i0")); return nil })
	measure("rewind", func(s *stores.Store) error {
		_, err := s.History.Rewind(t.Context(), session.Rewind{UserID: alice, SessionID: deep, Before: "i0", Nonce: mustID(t)})
		return err
	})
	return out
}

// TestDepth_of_forks bounds what operations in a fork cost more than in one whose source
// is no fork, at several depths.
func TestDepth_of_forks(t *testing.T) {
	t.Parallel()
	const rest, writes = 7, 2
	shallow, compared := atDepth(t, 1), 0
	for _, depth := range []int{10, 100, 1000} {
		for name, deep := range atDepth(t, depth) {
			compared++
			more := deep.Sub(shallow[name])
			if most := float64(rest); more.Reads > most || more.Writes > writes {
				t.Errorf("%s at depth %d: %v, at depth 1: %v", name, depth, deep, shallow[name])
			}
		}
	}
	if compared < 21 {
		t.Errorf("%d costs compared", compared)
	}
}

// TestDepth_shows_what_copies_would compares forks of forks, whose sources go on, are
// rewound and deleted, with what copying each source would give.
func TestDepth_shows_what_copies_would(t *testing.T) {
	t.Parallel()
	const depth = 40
	s := newStore(t)
	mustCreate(t, s, alice, "d0", nil)
	said := func(id string, seq int, text string) string {
		mustAppend(t, s, alice, id, event(t, "", text, text))
		return fmt.Sprintf("%d:%s", seq, text)
	}
	texts := func(id string) []string {
		t.Helper()
		return texts(mustEvents(t, s, alice, id, session.EventQuery{Limit: 1000}))
	}
	shown := []string{said("d0", 1, "i0")}
	compared := 0
	for n := 1; n <= depth; n++ {
		source, id := fmt.Sprint("d", n-1), fmt.Sprint("d", n)
		mustFork(t, s, source, id, nil)
		said(source, 0, "later") // which the fork does not show
		mustSave(t, s, id, fmt.Sprint("t", n), bubbles(id), "i0")
		shown = append(shown, said(id, len(shown)+1, fmt.Sprint("i", n)))
		if n%10 == 5 { // a rewind to what an older fork has said
			at := len(shown) - 4
			mustRewind(t, s, id, fmt.Sprint("i", n-3))
			if diff := cmp.Diff(shown[:at], texts(id)); diff != "" {
				t.Fatalf("%s after a rewind (-want +got):\n%s", id, diff)
			}
			mustRewind(t, s, id, mustLast(t, s, id)) // and back
		}
		if diff := cmp.Diff(shown, texts(id)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", id, diff)
		}
		compared++
	}
	deep := fmt.Sprint("d", depth)
	for n := 0; n < depth; n += 3 {
		if err := s.Sessions.Delete(t.Context(), alice, fmt.Sprint("d", n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= depth; n += 7 {
		id := fmt.Sprint("cut", n)
		mustFork(t, s, deep, id, new(fmt.Sprint("i", n)))
		if diff := cmp.Diff(shown[:n], texts(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
		mustFork(t, s, id, id+"-fork", nil)
		if diff := cmp.Diff(shown[:n], texts(id+"-fork")); diff != "" {
			t.Errorf("a fork of %s (-want +got):\n%s", id, diff)
		}
		compared++
	}
	if got := lines("", mustTree(t, s, session.TreeQuery{UserID: alice, SessionID: deep}).Root); len(got) < depth+1 {
		t.Errorf("the tree has %d sessions", len(got))
	}
	page, err := s.Tasks.Tasks(t.Context(), task.Query{UserID: alice, SessionID: deep})
	if err != nil || len(page.Tasks) != depth {
		t.Fatalf("%d tasks, %v", len(page.Tasks), err)
	}
	for _, want := range page.Tasks {
		got, err := s.Tasks.Task(t.Context(), alice, deep, want.ID)
		if err != nil || string(got.Bubbles) != string(want.Bubbles) {
			t.Errorf("task %s: %s, %v", want.ID, got.Bubbles, err)
		}
		compared++
	}
	if compared < 2*depth {
		t.Errorf("%d comparisons", compared)
	}
}

// mustLast returns the invocation of the newest entry of a log.
func mustLast(t *testing.T, s *stores.Store, id string) string {
	t.Helper()
	all := mustEvents(t, s, alice, id, session.EventQuery{View: session.All, Limit: 1000})
	return all[len(all)-1].InvocationID
}
