package stores_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// rewoundOften makes a session that was rewound n times, each time before the second of two
// new events, so that its timeline has a range for each rewind.
func rewoundOften(t *testing.T, s *stores.Store, id string, n int) {
	t.Helper()
	mustCreate(t, s, alice, id, nil)
	for i := range n {
		tried := fmt.Sprint("tried", i)
		mustAppend(t, s, alice, id, event(t, "", fmt.Sprint("kept", i), "hello"), event(t, "", tried, "again"))
		mustRewind(t, s, id, tried)
	}
}

// afterRewinds measures what is done in a session that was rewound n times, in memory: a
// thousand rewinds take minutes on DynamoDB Local.
func afterRewinds(t *testing.T, n int) map[string]capacity.Usage {
	t.Helper()
	meter := &capacity.Meter{}
	now := time.Now()
	s := stores.New(meter.Around(memory.New(store.Schema())), stores.WithCodec(storetest.Codec()), stores.WithClock(func() time.Time { return now }))
	rewoundOften(t, s, "s", n)
	out := map[string]capacity.Usage{}
	measure := func(name string, work func()) {
		t.Helper()
		now = now.Add(time.Hour) // the session is no longer the newest in lists
		before := meter.Total()
		work()
		out[name] = meter.Total().Sub(before)
	}
	page := func(id string, q session.EventQuery) func() {
		q.View, q.Limit = session.Effective, pageOfRewound
		return func() {
			if got, err := s.Sessions.Events(t.Context(), alice, id, q); err != nil || len(got.Events) < min(n, q.Limit/2) {
				t.Errorf("%d events of %s, %v: %+v", len(got.Events), id, err, q)
			}
		}
	}
	mustAppend(t, s, alice, "s", event(t, "", "last", "hello"))
	measure("append", func() { mustAppend(t, s, alice, "s", event(t, "", "more", "hello")) })
	measure("change", func() {
		if _, err := s.Sessions.Update(t.Context(), alice, "s", session.Patch{Name: new("new")}); err != nil {
			t.Fatal(err)
		}
	})
	mustSave(t, s, "s", "newest", bubbles("1"), "last")
	mustSave(t, s, "s", "oldest", bubbles("2"), "kept0")
	measure("page of tasks", func() {
		if got, err := s.Tasks.Tasks(t.Context(), task.Query{UserID: alice, SessionID: "s", Limit: 20}); err != nil || len(got.Tasks) != 2 {
			t.Errorf("%d tasks, %v", len(got.Tasks), err)
		}
	})
	measure("newest page", page("s", session.EventQuery{Descending: true}))
	measure("first page", page("s", session.EventQuery{}))
	measure("a page in the middle", page("s", session.EventQuery{After: 3 * int64(n/2)}))
	measure("rewind", func() { mustRewind(t, s, "s", "more") })
	mustImport(t, s, mustExport(t, s), "moved")
	measure("rewind of what was imported", func() { mustRewind(t, s, "moved", "last") })
	measure("first page of what was imported", page("moved", session.EventQuery{}))
	measure("fork of what was imported", func() { mustFork(t, s, "moved", "copy", nil) })
	measure("fork", func() { mustFork(t, s, "s", "f", nil) })
	measure("fork before the first", func() { mustFork(t, s, "s", "g", new("kept0")) })
	measure("fork before the middle", func() { mustFork(t, s, "s", "h", new(fmt.Sprint("kept", n/2))) })
	measure("first page of the fork", page("f", session.EventQuery{}))
	measure("append to the fork", func() { mustAppend(t, s, alice, "f", event(t, "", "forked", "hello")) })
	measure("rewind of the fork", func() { mustRewind(t, s, "f", "forked") })
	measure("run", func() {
		mustStart(t, s, run.Start{Ref: refOf("s", "r"), Input: []session.Event{event(t, "", "r", "question")}})
		mustEnd(t, s, refOf("s", "r"), run.Completed, nil)
	})
	measure("rewind to the middle", func() { mustRewind(t, s, "s", fmt.Sprint("kept", n/2)) })
	measure("rewind to the first", func() { mustRewind(t, s, "s", "kept0") })
	return out
}

// TestRewinds_first_load bounds what the first readers of a long history pay for later ones,
// who read less.
func TestRewinds_first_load(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(memory.New(store.Schema())), stores.WithCodec(storetest.Codec()))
	const size, sizes = 900, 400
	texts := incompressible(size * sizes)
	rewound := func(id string, n int) {
		mustCreate(t, s, alice, id, nil)
		for i := range n {
			tried, text := fmt.Sprint("tried", i), texts[i*size:(i+1)*size]
			mustAppend(t, s, alice, id, event(t, "", fmt.Sprint("kept", i), text))
			mustAppend(t, s, alice, id, event(t, "", tried, text))
			mustRewind(t, s, id, tried)
		}
	}
	for _, n := range []int{10, 100, sizes} {
		id := fmt.Sprint("s", n)
		rewound(id, n)
		load := func() capacity.Usage {
			before := meter.Total()
			if _, err := s.Runs.Thread(t.Context(), alice, id, run.ThreadQuery{Limit: session.MaxPage}); err != nil {
				t.Fatal(err)
			}
			return meter.Total().Sub(before)
		}
		first, loads := load(), 1
		if first.Writes > 100 {
			t.Errorf("the first load after %d rewinds: %+v", n, first)
		}
		last := first
		for last.Writes > 0 || loads == 1 {
			if last, loads = load(), loads+1; last.Writes > 100 || loads > 30 {
				t.Fatalf("load %d after %d rewinds: %+v", loads, n, last)
			}
		}
		t.Logf("%d rewinds: first %+v, load %d %+v", n, first, loads, last)
		if last.Reads > first.Reads {
			t.Errorf("load %d after %d rewinds: %+v, the first %+v", loads, n, last, first)
		}
	}
}

// TestRewinds_undo bounds the requests for the changes of state that a rewind undoes: near to
// each other they are read by pages.
func TestRewinds_undo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ changes, apart, most int }{
		{1, 1, 14}, {100, 1, 18}, {1000, 1, 18}, {1000, 4, 22}, {1000, 8, 26},
	} {
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(memory.New(store.Schema())), stores.WithCodec(storetest.Codec()))
		mustCreate(t, s, alice, "s", nil)
		mustAppend(t, s, alice, "s", event(t, "", "first", "hello"))
		for i := range c.changes {
			for range c.apart - 1 {
				mustAppend(t, s, alice, "s", event(t, "", "turn", "hello"))
			}
			mustAppend(t, s, alice, "s", stateEvent(t, "turn", map[string]any{"n": i, fmt.Sprint("key", i%7): i}))
		}
		before := meter.Total()
		got := mustRewind(t, s, "s", "first")
		used := meter.Total().Sub(before)
		t.Logf("%d changes, %d apart: %+v", c.changes, c.apart, used)
		if used.Requests > c.most {
			t.Errorf("%d changes, %d apart: %+v, want at most %d requests", c.changes, c.apart, used, c.most)
		}
		if want := 1 + min(7, c.changes); len(got.State) != want {
			t.Errorf("%d keys were restored, want %d", len(got.State), want)
		}
	}
}

// mustImport imports a document as a session with an id.
func mustImport(t *testing.T, s *stores.Store, doc []byte, id string) {
	t.Helper()
	part, err := archive.Parse(doc)
	if err == nil {
		_, err = s.Archives.Import(t.Context(), archive.Upload{UserID: alice, ImportID: id, SessionID: id, Number: 1, Digest: id, Part: part})
	}
	if err != nil {
		t.Fatalf("import %s: %v", id, err)
	}
}

// pageOfRewound is how many events the pages have that are measured.
const pageOfRewound = 20

// TestRewinds_cost bounds what operations cost in a session that was rewound often, and
// whose timeline has a range for each of the rewinds.
func TestRewinds_cost(t *testing.T) {
	t.Parallel()
	const rest, perRange = 4, 0.75 // read units; a page of single events has a range for each
	most := map[string]capacity.Usage{"rewind": {Reads: 8, Writes: 7}, "fork": {Reads: 4, Writes: 9}}
	once, compared := afterRewinds(t, 1), 0
	for _, n := range []int{1, 100, 1000} {
		for name, used := range afterRewinds(t, n) {
			compared++
			more := used.Sub(once[name])
			t.Logf("%d rewinds, %s: %+v, more %+v", n, name, used, more)
			reads := float64(rest)
			if strings.Contains(name, "page") {
				reads += perRange * min(float64(n), pageOfRewound)
			}
			if more.Reads > reads || more.Writes > 0 {
				t.Errorf("%s after %d rewinds: %+v, after one %+v", name, n, used, once[name])
			}
			if m, ok := most[name]; ok && (used.Reads > m.Reads || used.Writes > m.Writes) {
				t.Errorf("%s after %d rewinds: %+v, want at most %+v", name, n, used, m)
			}
		}
	}
	if compared < 57 {
		t.Errorf("%d costs compared", compared)
	}
}
