package stores_test

import (
	"fmt"
	"testing"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
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

// atDepth measures what is done in a fork at a depth.
func atDepth(t *testing.T, depth int) map[string]capacity.Usage {
	t.Helper()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)))
	deep := deepFork(t, s, depth)
	out := map[string]capacity.Usage{}
	measure := func(name string, work func() error) {
		t.Helper()
		before := meter.Total()
		if err := work(); err != nil {
			t.Fatalf("%s at depth %d: %v", name, depth, err)
		}
		out[name] = meter.Total().Sub(before)
	}
	var inherited string
	measure("list", func() error {
		page, err := s.Tasks(t.Context(), task.Query{UserID: alice, SessionID: deep})
		if err == nil && len(page.Tasks) != 1 {
			err = fmt.Errorf("%d tasks", len(page.Tasks))
		}
		if err == nil {
			inherited = page.Tasks[0].ID
		}
		return err
	})
	measure("task by id", func() error {
		_, err := s.Task(t.Context(), alice, deep, inherited)
		return err
	})
	measure("new task", func() error {
		mustSave(t, s, deep, "new", bubbles("1"))
		return nil
	})
	measure("fork", func() error { mustFork(t, s, deep, "again", nil); return nil })
	measure("delete", func() error { return s.Delete(t.Context(), alice, "again") })
	measure("fork before the first", func() error { mustFork(t, s, deep, "first", new("i0")); return nil })
	measure("rewind", func() error {
		_, err := s.Rewind(t.Context(), session.Rewind{UserID: alice, SessionID: deep, Before: "i0", Nonce: mustID(t)})
		return err
	})
	return out
}

// TestDepth_of_forks bounds what operations in a fork cost more than in one whose source
// is no fork, at several depths.
func TestDepth_of_forks(t *testing.T) {
	t.Parallel()
	const rest = 5
	perFork := map[string]int{"new task": 2, "fork before the first": 2, "rewind": 2} // what looks for an invocation
	shallow, compared := atDepth(t, 1), 0
	for _, depth := range []int{10, 100} {
		for name, deep := range atDepth(t, depth) {
			compared++
			more := deep.Sub(shallow[name])
			if most := float64(rest + perFork[name]*depth); more.Reads > most {
				t.Errorf("%s at depth %d: %v, at depth 1: %v", name, depth, deep, shallow[name])
			}
		}
	}
	if compared < 14 {
		t.Errorf("%d costs compared", compared)
	}
}
