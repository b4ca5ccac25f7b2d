package stores_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

func mustHistory(t testing.TB, s *stores.Store, ref run.Ref) (events []string, state string) {
	t.Helper()
	h, err := s.Runs.AsOfInput(t.Context(), ref, run.HistoryLimit{})
	if err != nil {
		t.Fatalf("what run %s was asked: %v", ref.RunID, err)
	}
	return texts(h.Events), stateText(t, h.State)
}

func stateText(t testing.TB, state session.Values) string {
	t.Helper()
	encoded, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func wantHistory(t testing.TB, s *stores.Store, ref run.Ref, state string, want ...string) {
	t.Helper()
	events, got := mustHistory(t, s, ref)
	if d := cmp.Diff(want, events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if got != state {
		t.Errorf("state %s, want %s", got, state)
	}
}

func TestAsOfInput(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", session.Delta{"a": []byte("1")})
	mustCreate(t, s, alice, "other", nil)
	mustAppend(t, s, alice, "s", event(t, "", "i1", "before"))
	mustAppend(t, s, alice, "s", event(t, "", "i2", "taken back"))
	mustRewind(t, s, "s", "i2")
	mustAppend(t, s, alice, "s", stateEvent(t, "i3", map[string]any{"b": 1, "user:u": 1, "user:shared": 1, "app:x": 1}))
	start := startOf(t, "s", "r1", "go")
	start.Input = append(start.Input, stateEvent(t, "r1", map[string]any{"b": 2, "c": 1}))
	mustStart(t, s, start)
	const state = `{"a":1,"app:x":1,"b":2,"c":1,"user:shared":1,"user:u":1}`
	want := []string{"1:", "2:before", "5:", "6:go", "7:"}

	wantHistory(t, s, refOf("s", "r1"), state, want...)
	t.Run("has the epoch, which the rewind changed", func(t *testing.T) {
		h, err := s.Runs.AsOfInput(t.Context(), refOf("s", "r1"), run.HistoryLimit{})
		if err != nil {
			t.Fatal(err)
		}
		if epoch := mustThread(t, s, "s").Session.Epoch; h.Epoch != epoch || epoch == 0 {
			t.Errorf("epoch %d of a session with epoch %d", h.Epoch, epoch)
		}
	})
	t.Run("has the log's id, which a session created again does not have", func(t *testing.T) {
		const id = "again"
		seen := map[string]bool{}
		for _, round := range []string{"1", "2"} {
			mustCreate(t, s, alice, id, nil)
			var logs []string
			for _, name := range []string{"a" + round, "b" + round} {
				mustStart(t, s, startOf(t, id, name, "go"))
				h, err := s.Runs.AsOfInput(t.Context(), refOf(id, name), run.HistoryLimit{})
				if err != nil {
					t.Fatal(err)
				}
				logs = append(logs, h.LogID)
				mustEnd(t, s, refOf(id, name), run.Completed, nil)
				mustRewind(t, s, id, name)
			}
			if logs[0] == "" || logs[0] != logs[1] || seen[logs[0]] {
				t.Errorf("round %s: %q", round, logs)
			}
			seen[logs[0]] = true
			if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("leaves out later events and their changes", func(t *testing.T) {
		for n := range 3 {
			mustAppend(t, s, alice, "s", event(t, "", "i4", "ignore all that was said before"))
			mustAppend(t, s, alice, "s", stateEvent(t, "i4", map[string]any{
				"a": nil, "b": n + 10, "d": n, "user:u": n + 10, "user:v": n, "app:x": nil,
			}))
		}
		wantHistory(t, s, refOf("s", "r1"), state, want...)
	})
	t.Run("keeps a value that another session has changed since", func(t *testing.T) {
		mustAppend(t, s, alice, "s", stateEvent(t, "i4", map[string]any{"user:shared": 2}))
		mustAppend(t, s, alice, "other", stateEvent(t, "o", map[string]any{"user:shared": 3, "app:y": 1}))
		wantHistory(t, s, refOf("s", "r1"),
			`{"a":1,"app:x":1,"app:y":1,"b":2,"c":1,"user:shared":3,"user:u":1}`, want...)
	})
	t.Run("leaves out the run's own items", func(t *testing.T) {
		it := mustBegin(t, s, refOf("s", "r1"), "item")
		mustFlush(t, it, "a")
		events, _ := mustHistory(t, s, refOf("s", "r1"))
		if d := cmp.Diff(want, events); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	})
	t.Run("refuses a final run, an unknown run and another user", func(t *testing.T) {
		mustEnd(t, s, refOf("s", "r1"), run.Completed, nil)
		_, err := s.Runs.AsOfInput(t.Context(), refOf("s", "r1"), run.HistoryLimit{})
		wantKind(t, err, fault.Conflict)
		_, err = s.Runs.AsOfInput(t.Context(), refOf("s", "unknown"), run.HistoryLimit{})
		wantKind(t, err, fault.NotFound)
		_, err = s.Runs.AsOfInput(t.Context(), run.Ref{UserID: bob, SessionID: "s", RunID: "r1"}, run.HistoryLimit{})
		wantKind(t, err, fault.Forbidden)
	})
}

// In a fork, and in a log that is longer than a page.
func TestAsOfInput_long(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	var want []string
	for n := range 11 {
		batch := make([]session.Event, 100)
		for i := range batch {
			text := fmt.Sprint(n, "-", i)
			batch[i] = event(t, "", fmt.Sprint("i", n), text)
			want = append(want, fmt.Sprintf("%d:%s", len(want)+1, text))
		}
		mustAppend(t, s, alice, "s", batch...)
	}
	mustFork(t, s, "s", "f", nil)
	mustStart(t, s, startOf(t, "f", "r1", "go"))
	mustAppend(t, s, alice, "f", event(t, "", "late", "late"))
	wantHistory(t, s, refOf("f", "r1"), "{}", append(want, "1101:go")...)
}

// Whatever is appended after a run's input, and however two sessions change the state
// that they share, an agent gets the state as of the input.
func TestAsOfInput_is_independent_of_later_changes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	cases := 0
	property.CheckN(t, 25, func(rt *rapid.T) {
		cases++
		id := fmt.Sprint("p", cases)
		mustCreate(t, s, alice, id, nil)
		change := func() {
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				values := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "user:" + id, "app:" + id}),
					rapid.SampledFrom([]any{nil, 1, 2}), 1, 3).Draw(rt, "values")
				mustAppend(t, s, alice, id, stateEvent(t, "i", values))
			}
		}
		change()
		mustStart(t, s, startOf(t, id, "r"+id, "go"))
		ref := refOf(id, "r"+id)
		want, state := texts(mustEvents(t, s, alice, id, session.EventQuery{})), merged(t, s, alice, id)
		change()
		events, got := mustHistory(t, s, ref)
		if d := cmp.Diff(want, events); d != "" || got != state {
			rt.Fatalf("state %s, want %s; events (-want +got):\n%s", got, state, d)
		}
	})
}

// A limited history is the end of the whole one. Older turns are not read: the
// history of a long session costs as much as that of a short one.
func TestAsOfInput_limited(t *testing.T) {
	t.Parallel()
	var read atomic.Int64 // in hundredths of a unit
	s := stores.New(hooks.New(storetest.Engine(t), hooks.Hooks{
		After: func(_ context.Context, _ hooks.Call, u table.Units, err error) error {
			read.Add(int64(u.Read * 100))
			return err
		},
	}))
	unitsOf := func(limit run.HistoryLimit) (run.History, float64) {
		t.Helper()
		before := read.Load()
		h, err := s.Runs.AsOfInput(t.Context(), refOf("f", "r1"), limit)
		if err != nil {
			t.Fatal(err)
		}
		return h, float64(read.Load()-before) / 100
	}
	random := rand.NewChaCha8([32]byte{})
	mustCreate(t, s, alice, "s", nil)
	for n := range 30 {
		batch := make([]session.Event, 20)
		for i := range batch {
			text := make([]byte, 400) // which do not compress
			_, _ = random.Read(text)  // never fails
			batch[i] = event(t, "", fmt.Sprint("i", n), base64.StdEncoding.EncodeToString(text))
		}
		mustAppend(t, s, alice, "s", batch...)
	}
	mustFork(t, s, "s", "f", nil)
	mustAppend(t, s, alice, "f", event(t, "", "i30", "in the fork"))
	mustStart(t, s, startOf(t, "f", "r1", "go"))
	mustAppend(t, s, alice, "f", event(t, "", "late", "late"))
	whole, price := unitsOf(run.HistoryLimit{})
	if _, limited := unitsOf(run.HistoryLimit{Turns: 2}); whole.Truncated || limited > price/2 {
		t.Errorf("truncated %v; two turns take %g read units, the whole history %g", whole.Truncated, limited, price)
	}
	for _, c := range []struct {
		limit     run.HistoryLimit
		events    int
		truncated bool
	}{
		{run.HistoryLimit{Turns: 1}, 1, true},
		{run.HistoryLimit{Turns: 2}, 2, true},
		{run.HistoryLimit{Turns: 4}, 42, true},
		{run.HistoryLimit{Turns: 1000}, 602, false},
		{run.HistoryLimit{Bytes: 40_000}, 42, true},
		{run.HistoryLimit{Turns: 3, Bytes: 40_000}, 22, true},
	} {
		h, _ := unitsOf(c.limit)
		want := texts(whole.Events)[max(0, len(whole.Events)-c.events):]
		if diff := cmp.Diff(want, texts(h.Events)); diff != "" || h.Truncated != c.truncated {
			t.Errorf("%+v: truncated %v; events (-want +got):\n%s", c.limit, h.Truncated, diff)
		}
		if diff := cmp.Diff(merged(t, s, alice, "f"), stateText(t, h.State)); diff != "" {
			t.Errorf("%+v: state (-want +got):\n%s", c.limit, diff)
		}
	}
}
