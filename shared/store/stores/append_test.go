package stores_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	s := newStore(t)

	t.Run("positions are dense across single events and batches", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "dense", nil)
		mustAppend(t, s, alice, "dense", event(t, "", "i1", "a"))
		mustAppend(t, s, alice, "dense", event(t, "", "i1", "b"), event(t, "", "i1", "c"), event(t, "", "i2", "d"))
		mustAppend(t, s, alice, "dense", event(t, "", "i2", "e"))
		want := []string{"1:a", "2:b", "3:c", "4:d", "5:e"}
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "dense", session.EventQuery{}))); diff != "" {
			t.Errorf("ascending (-want +got):\n%s", diff)
		}
		slices.Reverse(want)
		got := texts(mustEvents(t, s, alice, "dense", session.EventQuery{Descending: true, Limit: 2}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("descending (-want +got):\n%s", diff)
		}
		for after := range int64(6) {
			got := texts(mustEvents(t, s, alice, "dense", session.EventQuery{After: after, Limit: 1}))
			asc := slices.Clone(want)
			slices.Reverse(asc)
			if diff := cmp.Diff(asc[after:], got); diff != "" {
				t.Errorf("after %d (-want +got):\n%s", after, diff)
			}
		}
	})

	t.Run("an id sent again is a redelivery", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "again", nil)
		first := mustAppend(t, s, alice, "again", event(t, "e1", "i", "a"), event(t, "e2", "i", "b"))
		mustAppend(t, s, alice, "again", event(t, "", "i", "c"))
		stored, n, err := s.Sessions.Append(t.Context(), session.Append{
			SessionID: "again", UserID: alice,
			Events: []session.Event{event(t, "e2", "i", "b"), event(t, "e3", "i", "d")},
		})
		if err != nil || n != 1 {
			t.Fatalf("append again: %d appended, %v", n, err)
		}
		if stored[0].Seq != first[1].Seq || stored[1].Seq != 4 {
			t.Errorf("stored at %d and %d, want 2 and 4", stored[0].Seq, stored[1].Seq)
		}
	})

	t.Run("an id that the store generated is recognised too", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "own", nil)
		first := mustAppend(t, s, alice, "own", event(t, "", "i", "a"))
		again := event(t, first[0].ID, "i", "a")
		_, n, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "own", UserID: alice, Events: []session.Event{again}})
		if err != nil || n != 0 {
			t.Errorf("%d appended, %v; want a redelivery", n, err)
		}
	})

	t.Run("an id with other content is a conflict", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "other", nil)
		mustAppend(t, s, alice, "other", event(t, "e1", "i", "a"))
		_, _, err := s.Sessions.Append(t.Context(), session.Append{
			SessionID: "other", UserID: alice,
			Events: []session.Event{event(t, "", "i", "x"), event(t, "e1", "i", "b")},
		})
		if !errors.Is(err, fault.Of(fault.Conflict)) {
			t.Fatalf("got %v, want a conflict", err)
		}
		if got := len(mustEvents(t, s, alice, "other", session.EventQuery{})); got != 1 {
			t.Errorf("%d events after a refused batch, want 1", got)
		}
	})

	t.Run("a wrong expected_seq is a conflict", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "expected", nil)
		for _, step := range []struct {
			expected int64
			ok       bool
		}{{1, false}, {0, true}, {0, false}, {1, true}} {
			_, _, err := s.Sessions.Append(t.Context(), session.Append{
				SessionID: "expected", UserID: alice, ExpectedSeq: &step.expected,
				Events: []session.Event{event(t, "", "i", "a")},
			})
			if ok := err == nil; ok != step.ok {
				t.Errorf("expected_seq %d: %v", step.expected, err)
			}
		}
	})

	t.Run("a body larger than an item's 400 KB is read back", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "large", nil)
		random := make([]string, 0, 40_000)
		for range cap(random) {
			random = append(random, mustID(t))
		}
		text := strings.Join(random, " ")
		mustAppend(t, s, alice, "large", event(t, "", "i", text), event(t, "", "i", "small"))
		got := texts(mustEvents(t, s, alice, "large", session.EventQuery{}))
		if diff := cmp.Diff([]string{"1:" + text, "2:small"}, got); diff != "" {
			t.Error("the large event changed")
		}
	})
}

// Sixteen writers append a thousand times: nothing is lost or duplicated.
func TestAppend_racing_writers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "race", nil)
	const writers, each = 16, 63
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				id := ""
				if n%3 == 0 {
					id = fmt.Sprintf("chosen-%d-%d", w, n)
				}
				e := event(t, id, fmt.Sprintf("i%d", w), fmt.Sprintf("%d/%d", w, n))
				err := fault.Of(fault.Busy)
				for errors.Is(err, fault.Of(fault.Busy)) { // on a slow machine; nothing is stored then
					_, _, err = s.Sessions.Append(t.Context(), session.Append{
						SessionID: "race", UserID: alice, Events: []session.Event{e},
					})
				}
				if err != nil {
					t.Errorf("writer %d, append %d: %v", w, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	events := mustEvents(t, s, alice, "race", session.EventQuery{Limit: 1000})
	seen := map[string]bool{}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
		text := strings.SplitN(texts([]session.Event{e})[0], ":", 2)[1]
		if seen[text] {
			t.Errorf("%s is stored twice", text)
		}
		seen[text] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d appends stored, want %d", len(seen), writers*each)
	}
}

// The same batch delivered by several writers at once is appended once.
func TestAppend_racing_redeliveries(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "twins", nil)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 20 {
				batch := []session.Event{
					event(t, fmt.Sprintf("a%d", n), "i", "a"), event(t, fmt.Sprintf("b%d", n), "i", "b"),
				}
				if w%2 == 0 { // another writer's events come in between
					mustAppend(t, s, alice, "twins", event(t, "", "i", "noise"))
				}
				mustAppend(t, s, alice, "twins", batch...)
			}
		})
	}
	wg.Wait()
	count := map[string]int{}
	for _, e := range mustEvents(t, s, alice, "twins", session.EventQuery{Limit: 500}) {
		count[e.ID]++
	}
	for id, n := range count {
		if n != 1 {
			t.Errorf("event %s is stored %d times", id, n)
		}
	}
	if want := 40 + 4*20; len(count) != want {
		t.Errorf("%d events, want %d", len(count), want)
	}
}
