package stores_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// Whatever a lagging replica misses, readers see the whole log.
func TestEvents_read_from_a_stale_replica(t *testing.T) {
	t.Parallel()
	s := stores.New(storetest.Lagging(storetest.Engine(t), property.Rand(t, 0)))
	mustCreate(t, s, alice, "stale", nil)
	var want []string
	for n := 0; n < 60; {
		batch := make([]session.Event, 0, 4)
		for range 1 + n%4 {
			n++
			batch = append(batch, event(t, "", fmt.Sprintf("i%d", n/5), fmt.Sprint(n)))
			want = append(want, fmt.Sprintf("%d:%d", n, n))
		}
		mustAppend(t, s, alice, "stale", batch...)
	}
	for range 20 {
		if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "stale", session.EventQuery{}))); diff != "" {
			t.Fatalf("ascending (-want +got):\n%s", diff)
		}
		down := texts(mustEvents(t, s, alice, "stale", session.EventQuery{Descending: true}))
		slices.Reverse(down)
		if diff := cmp.Diff(want, down); diff != "" {
			t.Fatalf("descending (-want +got):\n%s", diff)
		}
	}
}

// A page of any size from any position is the right part of the log.
func TestEvents_pages_are_parts_of_the_log(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "pages", nil)
	var all []string
	for n := range 12 {
		batch := make([]session.Event, 0, n+1)
		for range n + 1 {
			text := fmt.Sprint(len(all))
			batch = append(batch, event(t, "", "i", text))
			all = append(all, fmt.Sprintf("%d:%s", len(all)+1, text))
		}
		mustAppend(t, s, alice, "pages", batch...)
	}
	property.Check(t, func(r *rapid.T) {
		q := session.EventQuery{
			View:       session.All,
			Limit:      rapid.IntRange(5, 90).Draw(r, "limit"),
			After:      rapid.Int64Range(0, int64(len(all)+3)).Draw(r, "after"),
			Descending: rapid.Bool().Draw(r, "descending"),
		}
		want := slices.Clone(all[min(int(q.After), len(all)):])
		if q.Descending {
			slices.Reverse(want)
		}
		if diff := cmp.Diff(want, append([]string{}, texts(mustEvents(t, s, alice, "pages", q))...)); diff != "" {
			r.Fatalf("%+v (-want +got):\n%s", q, diff)
		}
	})
}

// A page is cut by bytes before a Lambda response could overflow.
func TestEvents_pages_are_cut_by_bytes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "bytes", nil)
	text := strings.Repeat("all work and no play ", 50_000) // 1 MB, easy to compress
	for range 5 {
		mustAppend(t, s, alice, "bytes", event(t, "", "i", text))
	}
	page, err := s.Sessions.Events(t.Context(), alice, "bytes", session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Events) != 2 || page.Next == nil {
		t.Errorf("%d events of 1 MB on a page of 3 MB, next %v", len(page.Events), page.Next)
	}
	if got := len(mustEvents(t, s, alice, "bytes", session.EventQuery{Limit: 100})); got != 5 {
		t.Errorf("%d events over all pages, want 5", got)
	}
}

func TestEvents_of_others(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "hers", nil)
	for name, tc := range map[string]struct {
		user, id string
		want     fault.Kind
	}{
		"another user's session": {bob, "hers", fault.Forbidden},
		"an unknown session":     {alice, "none", fault.NotFound},
	} {
		if _, err := s.Sessions.Events(t.Context(), tc.user, tc.id, session.EventQuery{Limit: 1}); !errors.Is(err, fault.Of(tc.want)) {
			t.Errorf("read %s: %v", name, err)
		}
		_, _, err := s.Sessions.Append(t.Context(), session.Append{
			SessionID: tc.id, UserID: tc.user, Events: []session.Event{event(t, "", "i", "x")},
		})
		if !errors.Is(err, fault.Of(tc.want)) {
			t.Errorf("append to %s: %v", name, err)
		}
	}
	mustCreate(t, s, bob, "his", nil)
	mustAppend(t, s, bob, "his", event(t, "", "i", "his own"))
	if got := len(mustEvents(t, s, bob, "his", session.EventQuery{})); got != 1 {
		t.Errorf("%d events of his own, want 1", got)
	}
	if got := len(mustEvents(t, s, alice, "hers", session.EventQuery{})); got != 0 {
		t.Errorf("%d events after refused appends", got)
	}
}

// Answers are lost and the SDK retries: every kind of write still takes effect
// once.
func TestAppend_when_answers_are_lost(t *testing.T) {
	t.Parallel()
	s := losing(t, 0.2)
	mustCreate(t, s, alice, "lost", session.Delta{"n": []byte("0"), "user:n": []byte("0")})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 15 {
				e := event(t, "", "i", fmt.Sprintf("%d/%d", w, n))
				if n%3 == 0 {
					e = stateEvent(t, "i", map[string]any{fmt.Sprintf("k%d", w): n, fmt.Sprintf("user:u%d", w): n})
				}
				mustAppend(t, s, alice, "lost", e)
			}
		})
	}
	wg.Wait()
	if got := len(mustEvents(t, s, alice, "lost", session.EventQuery{Limit: 200})); got != 61 {
		t.Errorf("%d events, want 61", got)
	}
	state, err := s.Sessions.State(t.Context(), alice, "lost")
	if err != nil {
		t.Fatal(err)
	}
	for w := range 4 {
		for _, key := range []string{fmt.Sprintf("k%d", w), fmt.Sprintf("user:u%d", w)} {
			if got := string(state.Merged[key]); got != "12" {
				t.Errorf("%s is %s, want 12", key, got)
			}
		}
	}
}
