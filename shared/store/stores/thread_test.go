package stores_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// allOfThread reads every page of a thread.
func allOfThread(t testing.TB, s *stores.Store, id string, q run.ThreadQuery) []run.Thread {
	t.Helper()
	var pages []run.Thread
	for {
		page, err := s.Runs.Thread(t.Context(), alice, id, q)
		if err != nil {
			t.Fatalf("read the thread of %s: %v", id, err)
		}
		if pages = append(pages, page); page.Next == nil {
			return pages
		}
		q.Resume = *page.Next
	}
}

func holdsOpen(items []session.Event) bool {
	return slices.ContainsFunc(items, func(e session.Event) bool { return e.Status == session.EventInProgress })
}

func itemsOf(pages []run.Thread) []session.Event {
	items := []session.Event{}
	for _, page := range pages {
		items = append(items, page.Items...)
	}
	return items
}

// wantBothWays compares a thread read backwards, in pages of any size, with the
// thread read forwards, and returns its number of items.
func wantBothWays(t *testing.T, s *stores.Store, id string) int {
	t.Helper()
	up := allOfThread(t, s, id, run.ThreadQuery{Limit: session.MaxPage})
	want, last := itemsOf(up), up[len(up)-1]
	for limit := 1; limit <= len(want)+1; limit += 1 + limit/3 {
		down := allOfThread(t, s, id, run.ThreadQuery{Descending: true, Limit: limit})
		got := itemsOf(down)
		slices.Reverse(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s in pages of %d (-ascending +descending):\n%s", id, limit, d)
		}
		first := down[0]
		if d := cmp.Diff(last.Session, first.Session) + cmp.Diff(last.Run, first.Run); d != "" {
			t.Errorf("%s in pages of %d (-ascending +descending):\n%s", id, limit, d)
		}
		if holdsOpen(want) && !holdsOpen(first.Items) {
			continue // it is watched from the head: later changes do not matter
		}
		if first.Seq != last.Seq || first.Offset != last.Offset {
			t.Errorf("%s is watched from %d.%d, ascending from %d.%d", id, first.Seq, first.Offset, last.Seq, last.Offset)
		}
	}
	return len(want)
}

func TestThread_newest_first(t *testing.T) {
	t.Parallel()
	t.Run("an empty session", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		mustCreate(t, s, alice, "s", nil)
		wantBothWays(t, s, "s")
	})
	t.Run("a run from its input to its failure", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		mustCreate(t, s, alice, "s", nil)
		mustAppend(t, s, alice, "s", event(t, "", "a", "1"), event(t, "", "a", "2"), event(t, "", "a", "3"))
		ref := refOf("s", "r")
		mustStart(t, s, startOf(t, "s", "r", "go"))
		wantBothWays(t, s, "s")
		mustFlush(t, mustBegin(t, s, ref, "item"), "a", "b")
		wantBothWays(t, s, "s")
		mustAppend(t, s, alice, "s", event(t, "", "b", "meanwhile"), event(t, "", "b", "and on"))
		wantBothWays(t, s, "s")
		mustEnd(t, s, ref, run.Failed, run.NewProblem("boom", "it broke"))
		if n := wantBothWays(t, s, "s"); n != 7 {
			t.Errorf("%d items", n)
		}
		mustStart(t, s, startOf(t, "s", "next", "again"))
		if n := wantBothWays(t, s, "s"); n != 4 {
			t.Errorf("%d items after the next input", n)
		}
	})
	t.Run("rewinds of rewinds, a fork of them, and compacted ranges", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 3)
		mustAppend(t, s.Store, alice, "s", event(t, "", "lost", "1"), event(t, "", "lost", "2"))
		marker := mustRewind(t, s.Store, "s", "lost").Event.InvocationID
		s.again(3, 12)
		mustFork(t, s.Store, "s", "f", nil)
		mustAppend(t, s.Store, alice, "f", event(t, "", "own", "of the fork"))
		mustRewind(t, s.Store, "s", marker)
		mustAppend(t, s.Store, alice, "s", event(t, "", "end", "end"))
		for range 2 { // the second time with compacted ranges
			if source, fork := wantBothWays(t, s.Store, "s"), wantBothWays(t, s.Store, "f"); source != 9 || fork != 25 {
				t.Errorf("%d items, %d of the fork", source, fork)
			}
		}
		mustRewind(t, s.Store, "f", "turn 1, 1")
		if n := wantBothWays(t, s.Store, "f"); n != 2 {
			t.Errorf("%d items of the fork, rewound", n)
		}
	})
	t.Run("a rewind between pages is a conflict", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		chat(t, s, "s", 3)
		q := run.ThreadQuery{Descending: true, Limit: 2}
		first, err := s.Runs.Thread(t.Context(), alice, "s", q)
		if err != nil || first.Next == nil {
			t.Fatalf("%+v, %v", first, err)
		}
		mustRewind(t, s, "s", first.Items[0].InvocationID)
		q.Resume = *first.Next
		_, err = s.Runs.Thread(t.Context(), alice, "s", q)
		wantKind(t, err, fault.Conflict)
	})
	t.Run("events between pages are left out", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		chat(t, s, "s", 2)
		q := run.ThreadQuery{Descending: true, Limit: 2}
		first, err := s.Runs.Thread(t.Context(), alice, "s", q)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, alice, "s", event(t, "", "new", "new"))
		q.Resume = *first.Next
		rest := itemsOf(allOfThread(t, s, "s", q))
		if n := len(rest); n == 0 || rest[0].Seq != first.Items[1].Seq-1 {
			t.Errorf("the next page: %v", texts(rest))
		}
	})
	t.Run("a page is full although parts of the log are hidden", func(t *testing.T) {
		t.Parallel()
		s := newStore(t)
		mustCreate(t, s, alice, "s", nil)
		for n := range 6 { // each run ends with a hidden entry
			id := fmt.Sprint("r", n)
			mustStart(t, s, startOf(t, "s", id, "go"))
			mustEnd(t, s, refOf("s", id), run.Completed, nil)
		}
		page, err := s.Runs.Thread(t.Context(), alice, "s", run.ThreadQuery{Descending: true, Limit: 5})
		if err != nil || len(page.Items) != 5 || page.Next == nil {
			t.Errorf("%v, next %v, %v", texts(page.Items), page.Next, err)
		}
	})
}

// The latest page of a long session costs the same as that of a short one, however
// its events were appended.
func TestThread_newest_first_costs_the_same_whatever_came_before(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)))
	cost := func(name string, history, batch int) capacity.Usage {
		id := fmt.Sprintf("%s %d", name, history)
		mustCreate(t, s, alice, id, nil)
		for at := 0; at < history; {
			size := session.MaxBatch
			if history-at <= 200 {
				size = batch
			}
			events := make([]session.Event, size)
			for i := range events {
				events[i] = event(t, "", fmt.Sprint("turn ", at/2), fmt.Sprintf("%6d %s", at, randomText(t, 300)))
				at++
			}
			mustAppend(t, s, alice, id, events...)
		}
		before := meter.Total()
		page, err := s.Runs.Thread(t.Context(), alice, id, run.ThreadQuery{Descending: true, Limit: 100})
		if err != nil || len(page.Items) != 100 {
			t.Fatalf("%s: %d items, %v", id, len(page.Items), err)
		}
		used := meter.Total().Sub(before)
		t.Logf("the newest 100 of %s: %+v", id, used)
		return used
	}
	for name, batch := range map[string]int{"events one by one": 1, "in batches of 7": 7, "in batches of 100": 100} {
		short, long := cost(name, 200, batch), cost(name, 600, batch)
		if long.Reads > short.Reads+1 || long.Requests > short.Requests || long.Writes > 0 {
			t.Errorf("%s: the newest 100 of 600 cost %+v, of 200 %+v", name, long, short)
		}
	}
}
