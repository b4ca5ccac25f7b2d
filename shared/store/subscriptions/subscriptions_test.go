package subscriptions_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
)

func wantSubscriptions(t testing.TB, s *stores.Store, log string, want ...watch.Subscription) {
	t.Helper()
	for i := range want {
		want[i].Owner = ""
	}
	if diff := gocmp.Diff(want, fixture.Watchers(t, s, log), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := stores.New(storetest.Engine(t), stores.WithClock(func() time.Time { return now }))
	fixture.Session(t, s, fixture.Alice, "s", nil)
	fixture.LetIn(t, s, "s", "sh", fixture.Bob)
	fixture.LetIn(t, s, "s", "later", fixture.Bob)
	log := fixture.Log(t, s, "s")
	own, guest := fixture.Subscription("s", "c1=", fixture.Alice, ""), fixture.Subscription("s", "c2=", fixture.Bob, "sh")
	guest.Grant.Until = now.UnixMilli() + 1
	t.Run("contain their end and their grant", func(t *testing.T) {
		fixture.Subscribe(t, s, own, guest)
		wantSubscriptions(t, s, log, own, guest)
	})
	t.Run("a connection has one, the latest", func(t *testing.T) {
		again := fixture.Subscription("s", "c2=", fixture.Bob, "later")
		fixture.Subscribe(t, s, again, own)
		wantSubscriptions(t, s, log, own, again)
		if err := s.Subscriptions.Clear(t.Context(), log, guest); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log, own, again)
		if err := s.Subscriptions.Clear(t.Context(), log, again); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log, own)
	})
	t.Run("are removed with the connection", func(t *testing.T) {
		if err := s.Subscriptions.Disconnect(t.Context(), "c1="); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log)
	})
	t.Run("any number can be removed at once", func(t *testing.T) {
		var connections []string
		for i := range 120 {
			connections = append(connections, fmt.Sprintf("connection%04d==", i))
			fixture.Subscribe(t, s, fixture.Subscription("s", connections[i], fixture.Alice, ""))
		}
		if got := fixture.Watchers(t, s, log); len(got) != len(connections) {
			t.Fatalf("%d subscriptions", len(got))
		}
		if err := s.Subscriptions.Leave(t.Context(), log, connections); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log)
	})
	t.Run("expire after the lifetime of a connection", func(t *testing.T) {
		fixture.Subscribe(t, s, own)
		now = now.Add(3 * time.Hour)
		wantSubscriptions(t, s, log)
	})
}

func TestEndSubscriptions(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine, stores.WithCodec(storetest.Codec()))
	fixture.Session(t, s, fixture.Alice, "s", nil)
	log := fixture.Log(t, s, "s")
	fixture.LetIn(t, s, "s", "link", "")
	fixture.LetIn(t, s, "s", "named", fixture.Bob)
	for _, user := range []string{fixture.Bob, "carol"} {
		fixture.Accept(t, s, user, "link")
	}
	own, named := fixture.Subscription("s", "a", fixture.Alice, ""), fixture.Subscription("s", "b1", fixture.Bob, "named")
	bobs, carols := fixture.Subscription("s", "b2", fixture.Bob, "link"), fixture.Subscription("s", "c", "carol", "link")
	revoked := func(sub watch.Subscription) watch.Subscription {
		sub.Revoked = true
		return sub
	}
	again := fixture.Subscription("s", "b2", fixture.Bob, "named")
	fixture.Subscribe(t, s, own, named, bobs, carols)
	t.Run("leaving ends only the subscriptions of the user's share", func(t *testing.T) {
		if err := records.New(engine, uuid.New).Write(t.Context(), s.Subscriptions.EndSubscriptions(log, "link", fixture.Bob)); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log, own, named, revoked(bobs), carols)
	})
	t.Run("revoking a share ends all its subscriptions", func(t *testing.T) {
		if err := s.Shares.Revoke(t.Context(), fixture.Alice, "s", "link"); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log, own, named, revoked(bobs), revoked(carols))
	})
	t.Run("a user with another share can subscribe again", func(t *testing.T) {
		fixture.Subscribe(t, s, again)
		wantSubscriptions(t, s, log, own, named, again, revoked(carols))
	})
	t.Run("a user without a share can unsubscribe once", func(t *testing.T) {
		if err := s.Subscriptions.Unsubscribe(t.Context(), "carol", "s", "c"); err != nil {
			t.Errorf("carol: %v", err)
		}
		for _, user := range []string{"carol", "mallory"} {
			if err := s.Subscriptions.Unsubscribe(t.Context(), user, "s", "c"); !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("%s: %v", user, err)
			}
		}
	})
	t.Run("a user who accepts a link again is let in again", func(t *testing.T) {
		fixture.LetIn(t, s, "s", "other", "")
		fixture.Accept(t, s, fixture.Bob, "other")
		sub := fixture.Subscription("s", "again", fixture.Bob, "other")
		fixture.Subscribe(t, s, sub)
		if err := s.Shares.LeaveSession(t.Context(), fixture.Bob, "s"); err != nil {
			t.Fatal(err)
		}
		wantSubscriptions(t, s, log, own, revoked(sub), revoked(named), revoked(again))
		fixture.Accept(t, s, fixture.Bob, "other")
		wantSubscriptions(t, s, log, own, sub, revoked(named), revoked(again))
	})
	t.Run("a share that is created again is one", func(t *testing.T) {
		fixture.LetIn(t, s, "s", "named", fixture.Bob)
		wantSubscriptions(t, s, log, own, fixture.Subscription("s", "again", fixture.Bob, "other"), named, again)
	})
}
