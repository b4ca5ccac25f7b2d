package stores_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

const alice, bob = fixture.Alice, fixture.Bob

// newStore is a store over a table of the test's own.
func newStore(t testing.TB, opts ...stores.Option) *stores.Store {
	t.Helper()
	return fixture.Store(t, opts...)
}

func mustCreate(t testing.TB, s *stores.Store, user, id string, state session.Delta) session.Session {
	t.Helper()
	return fixture.Session(t, s, user, id, state)
}

// event is an event as a caller sends it.
func event(t testing.TB, id, invocation, text string) session.Event {
	t.Helper()
	return fixture.Event(t, id, invocation, text)
}

func stateEvent(t testing.TB, invocation string, delta map[string]any) session.Event {
	t.Helper()
	return parse(t, map[string]any{
		"invocation_id": invocation, "author": "agent", "actions": map[string]any{"state_delta": delta},
	})
}

func parse(t testing.TB, raw map[string]any) session.Event {
	t.Helper()
	return fixture.Parse(t, raw)
}

func mustAppend(t testing.TB, s *stores.Store, user, id string, events ...session.Event) []session.Event {
	t.Helper()
	return fixture.Append(t, s, user, id, events...)
}

// mustEvents reads all events, page by page.
func mustEvents(t testing.TB, s *stores.Store, user, id string, q session.EventQuery) []session.Event {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 7 // several pages
	}
	if q.View == "" {
		q.View = session.Effective
	}
	var all []session.Event
	for {
		page, err := s.Sessions.Events(t.Context(), user, id, q)
		if err != nil {
			t.Fatalf("read events of %s: %v", id, err)
		}
		all = append(all, page.Events...)
		if page.Next == nil {
			return all
		}
		q.Resume = *page.Next
	}
}

func mustID(t testing.TB) string { t.Helper(); return uuid.NewString() }

func texts(events []session.Event) []string {
	out := []string{}
	for _, e := range events {
		var c struct{ Parts []struct{ Text string } }
		if json.Unmarshal(e.Fields["content"], &c) == nil && len(c.Parts) > 0 {
			out = append(out, fmt.Sprintf("%d:%s", e.Seq, c.Parts[0].Text))
		} else {
			out = append(out, fmt.Sprintf("%d:", e.Seq))
		}
	}
	return out
}
