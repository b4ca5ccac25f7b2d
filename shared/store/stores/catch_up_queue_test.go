package stores_test

import (
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// Every subscription to a session that has had a queue gets it before the status, and
// other subscriptions get none.
func TestCatchUp_queue(t *testing.T) {
	t.Parallel()
	s := busy(t)
	for _, from := range []watch.From{{}, cursorOf(mustThread(t, s, "s"))} {
		for _, m := range mustCatchUp(t, s, from) {
			if m.Type == watch.QueueType {
				t.Errorf("a session without a queue sends %+v", m)
			}
		}
	}
	mustEnqueue(t, s, "s", "two", "three")
	wantQueue := func(version int64, runIDs ...string) {
		t.Helper()
		th := mustThread(t, s, "s")
		for _, from := range []watch.From{{}, {LastItemID: th.Items[0].ID}, {Cursor: &watch.Cursor{}}, cursorOf(th)} {
			messages := mustCatchUp(t, s, from)
			m := messages[len(messages)-2]
			if m.Type != watch.QueueType || m.QueueVersion != version || m.Cursor != m.Prev || m.SessionID != "s" {
				t.Errorf("from %+v: %+v, want version %d", from, m, version)
				continue
			}
			got := []string{}
			for _, one := range *m.Queued {
				got = append(got, one.RunID)
			}
			if diff := cmp.Diff(runIDs, got); diff != "" {
				t.Errorf("from %+v (-want +got):\n%s", from, diff)
			}
			if last := messages[len(messages)-1]; last.Type != watch.Status || last.Prev != m.Cursor {
				t.Errorf("after the queue: %+v", last)
			}
		}
	}
	wantQueue(2, "two", "three")
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	mustStartQueued(t, s, "two")
	wantQueue(3, "three")
	mustCancel(t, s, "three")
	wantQueue(4, []string{}...)
}

// Each change of a queue sends its whole content; a move of its item in the index sends
// nothing.
func TestWatchMessages_queue(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var changes []records.Change
	s := stores.New(memory.New(store.Schema(), memory.Feed(func(before, after table.Item) {
		mu.Lock()
		defer mu.Unlock()
		if table.Text(after, table.SK) == "QUEUE" {
			changes = append(changes, records.Change{Old: before, New: after})
		}
	})))
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, startOf(t, "s", "one", "one"))
	mustEnqueue(t, s, "s", "two", "three")
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	mustStartQueued(t, s, "two")
	mustCancel(t, s, "three")
	moved := maps.Clone(changes[0].New)
	moved["GSK"] = changes[0].New[table.PK]
	changes = append(changes, records.Change{Old: changes[0].New, New: moved})
	type sent struct {
		At      string
		Version int64
		Runs    []string
	}
	got := []sent{}
	for _, c := range changes {
		update, err := s.WatchMessages(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range update.Messages {
			one := sent{m.Cursor.String(), m.QueueVersion, []string{}}
			for _, q := range *m.Queued {
				one.Runs = append(one.Runs, q.RunID)
			}
			got = append(got, one)
		}
	}
	want := []sent{
		{"0.1.0", 1, []string{"two"}},
		{"0.1.0", 2, []string{"two", "three"}},
		{"0.2.0", 3, []string{"three"}},
		{"0.3.0", 4, []string{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
