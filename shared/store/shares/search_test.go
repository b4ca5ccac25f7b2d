package shares_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// TestSearchSharedWith searches sessions while they are shared: what a user may no longer
// read is not found.
func TestSearchSharedWith(t *testing.T) {
	t.Parallel()
	var ahead time.Duration
	s := stores.New(storetest.Engine(t), stores.WithClock(func() time.Time { return time.Now().Add(ahead) }))
	for _, id := range []string{"a", "b", "other"} {
		fixture.Session(t, s, fixture.Alice, id, nil)
		fixture.Append(t, s, fixture.Alice, id, fixture.Event(t, "", "i", "A trip to Lisbon"))
	}
	find := func(q session.ListQuery) (found []string) {
		t.Helper()
		q.UserID, q.Text, q.Limit = fixture.Bob, "lisb", 1
		for {
			page, err := s.Shares.SearchSharedWith(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range page.Sessions {
				found = append(found, one.ID+" "+one.Access+" "+one.Match.Text)
			}
			if q.After = page.Next; q.After == "" {
				slices.Sort(found)
				return found
			}
		}
	}
	want := func(what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	want("nothing shared", find(session.ListQuery{}))
	a := fixture.Share(t, s, access.NewShare{SessionID: "a", Right: access.Read, UserID: fixture.Bob})
	fixture.Share(t, s, access.NewShare{SessionID: "b", Right: access.Write, UserID: fixture.Bob, Life: time.Hour})
	want("two sessions", find(session.ListQuery{}), "a read A trip to Lisbon", "b write A trip to Lisbon")
	want("of an agent", find(session.ListQuery{Agent: "nobody"}))
	if err := s.Shares.Revoke(t.Context(), fixture.Alice, "a", a); err != nil {
		t.Fatal(err)
	}
	want("one revoked", find(session.ListQuery{}), "b write A trip to Lisbon")
	ahead = 2 * time.Hour
	want("one expired", find(session.ListQuery{}))
}

// TestSearchRevoked revokes a share while a search reads the session: what was found is
// not answered.
func TestSearchRevoked(t *testing.T) {
	t.Parallel()
	var armed atomic.Bool
	var revoke func()
	s := stores.New(storetest.Before(storetest.Engine(t), func(_ context.Context, c hooks.Call) error {
		ofLog := c.Op == hooks.Query && strings.HasPrefix(c.Query.Partition, "L#")
		if ofLog && armed.CompareAndSwap(true, false) {
			revoke()
		}
		return nil
	}))
	for _, id := range []string{"a", "b"} {
		fixture.Session(t, s, fixture.Alice, id, nil)
		fixture.Append(t, s, fixture.Alice, id, fixture.Event(t, "", "i", "A trip to Lisbon"))
	}
	a := fixture.Share(t, s, access.NewShare{SessionID: "a", Right: access.Read, UserID: fixture.Bob})
	fixture.Share(t, s, access.NewShare{SessionID: "b", Right: access.Read, UserID: fixture.Bob})
	revoke = func() {
		if err := s.Shares.Revoke(t.Context(), fixture.Alice, "a", a); err != nil {
			t.Error(err)
		}
	}
	armed.Store(true)
	page, err := s.Shares.SearchSharedWith(t.Context(), session.ListQuery{UserID: fixture.Bob, Text: "lisb", Limit: 10})
	if err != nil || armed.Load() || len(page.Sessions) != 1 || page.Sessions[0].ID != "b" || page.Sessions[0].Access != "read" {
		t.Errorf("got %+v, %v, revoked: %v", page.Sessions, err, !armed.Load())
	}
}
