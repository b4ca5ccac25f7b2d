package sessions_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// subscription is a subscription in alice's session, of a guest where it names a share.
func seat(session, connection, user, share string) watch.Subscription {
	s := watch.Subscription{SessionID: session, Owner: alice, Connection: connection, Expires: 1 << 40}
	if share != "" {
		s.Grant = watch.Grant{Share: share, UserID: user}
	}
	return s
}

// mustLetIn shares alice's session, with everybody who has the link where no
// user is named.
func mustLetIn(t testing.TB, s *stores.Store, session, share, user string) {
	t.Helper()
	n := access.NewShare{ID: share, SessionID: session, Right: access.Read, UserID: user}
	if user == "" {
		n.Token = "token of " + share
	}
	mustShare(t, s, n)
}

func mustAccept(t testing.TB, s *stores.Store, user, share string) {
	t.Helper()
	if _, err := s.Accept(t.Context(), user, "token of "+share); err != nil {
		t.Fatal(err)
	}
}

func mustSit(t testing.TB, s *stores.Store, seats ...watch.Subscription) {
	t.Helper()
	for _, seat := range seats {
		if err := s.Subscribe(t.Context(), seat); err != nil {
			t.Fatalf("seat of %s: %v", seat.Connection, err)
		}
	}
}

func mustLog(t testing.TB, s *stores.Store, session string) string {
	t.Helper()
	log, err := s.LogOf(t.Context(), alice, session)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// mustSeats are the subscriptions at a session's log, by connection; whose session it
// is they do not say.
func mustSeats(t testing.TB, s *stores.Store, log string) []watch.Subscription {
	t.Helper()
	_, seats, err := s.Watchers(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(seats, func(a, b watch.Subscription) int { return cmp.Compare(a.Connection, b.Connection) })
	return seats
}

func wantSeats(t testing.TB, s *stores.Store, log string, want ...watch.Subscription) {
	t.Helper()
	for i := range want {
		want[i].Owner = ""
	}
	if diff := gocmp.Diff(want, mustSeats(t, s, log), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
}

func TestSeats(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	now := time.Now()
	s := stores.New(engine, sessions.WithClock(func() time.Time { return now }))
	mustCreate(t, s, alice, "s", nil)
	mustLetIn(t, s, "s", "sh", bob)
	mustLetIn(t, s, "s", "later", bob)
	log := mustLog(t, s, "s")
	own, guest := seat("s", "c1=", alice, ""), seat("s", "c2=", bob, "sh")
	guest.Grant.Until = now.UnixMilli() + 1
	t.Run("say until when and by what right they are good", func(t *testing.T) {
		mustSit(t, s, own, guest)
		wantSeats(t, s, log, own, guest)
	})
	t.Run("a connection has one, the last that it took", func(t *testing.T) {
		again := seat("s", "c2=", bob, "later")
		mustSit(t, s, again, own)
		wantSeats(t, s, log, own, again)
		if err := s.Clear(t.Context(), log, guest); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log, own, again)
		if err := s.Clear(t.Context(), log, again); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log, own)
	})
	t.Run("of an earlier version are seats that nobody knows more of", func(t *testing.T) {
		storetest.Spoil(t, engine, table.NewKey("W#"+log, "W"), table.AddToSet(table.At("c"), "old1", "old2"))
		old1, old2 := watch.Subscription{SessionID: "s", Connection: "old1"}, watch.Subscription{SessionID: "s", Connection: "old2"}
		wantSeats(t, s, log, own, old1, old2)
		fresh := seat("s", "old1", alice, "")
		mustSit(t, s, fresh)
		wantSeats(t, s, log, own, fresh, old2)
		if err := s.Leave(t.Context(), log, []string{"old1", "old2", "never"}); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log, own)
	})
	t.Run("go with the connection", func(t *testing.T) {
		if err := s.Disconnect(t.Context(), "c1="); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log)
	})
	t.Run("any number of them can be left at once", func(t *testing.T) {
		var connections []string
		for i := range 120 {
			connections = append(connections, fmt.Sprintf("connection%04d==", i))
			mustSit(t, s, seat("s", connections[i], alice, ""))
		}
		if got := mustSeats(t, s, log); len(got) != len(connections) {
			t.Fatalf("%d seats", len(got))
		}
		if err := s.Leave(t.Context(), log, connections); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log)
	})
	t.Run("are for nobody without a grant", func(t *testing.T) {
		for name, refused := range map[string]watch.Subscription{
			"of another share": seat("s", "c3=", bob, "none"), "of somebody else": seat("s", "c3=", "carol", "sh"),
		} {
			if err := s.Subscribe(t.Context(), refused); !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("a seat %s: %v", name, err)
			}
		}
		wantSeats(t, s, log)
	})
	t.Run("end when nobody has taken one for so long as a connection lives", func(t *testing.T) {
		mustSit(t, s, own)
		now = now.Add(3 * time.Hour)
		wantSeats(t, s, log)
	})
}

func ptr[T any](v T) *T { return &v }

func TestEvict(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	log := mustLog(t, s, "s")
	mustLetIn(t, s, "s", "link", "")
	mustLetIn(t, s, "s", "named", bob)
	for _, user := range []string{bob, "carol"} {
		mustAccept(t, s, user, "link")
	}
	own, named := seat("s", "a", alice, ""), seat("s", "b1", bob, "named")
	bobs, carols := seat("s", "b2", bob, "link"), seat("s", "c", "carol", "link")
	revoked := func(connection string) watch.Subscription {
		return watch.Subscription{SessionID: "s", Connection: connection, Revoked: true}
	}
	mustSit(t, s, own, named, bobs, carols)
	t.Run("who leaves loses the seats of his share alone", func(t *testing.T) {
		if err := s.EndUserSubscriptions(t.Context(), log, "link", bob); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log, own, named, revoked("b2"), carols)
	})
	t.Run("a share that is revoked, all of its seats", func(t *testing.T) {
		if err := s.Revoke(t.Context(), alice, "s", "link"); err != nil {
			t.Fatal(err)
		}
		wantSeats(t, s, log, own, named, revoked("b2"), revoked("c"))
	})
	t.Run("who has another share takes a seat again", func(t *testing.T) {
		again := seat("s", "b2", bob, "named")
		mustSit(t, s, again)
		wantSeats(t, s, log, own, named, again, revoked("c"))
	})
	t.Run("who has none can take his leave, once", func(t *testing.T) {
		if err := s.Unsubscribe(t.Context(), "carol", "s", "c"); err != nil {
			t.Errorf("carol: %v", err)
		}
		for _, user := range []string{"carol", "mallory"} {
			if err := s.Unsubscribe(t.Context(), user, "s", "c"); !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("%s: %v", user, err)
			}
		}
	})
	t.Run("however many there are", func(t *testing.T) {
		for i := range 60 {
			mustSit(t, s, seat("s", fmt.Sprint("many", i), bob, "named"))
		}
		if err := s.Revoke(t.Context(), alice, "s", "named"); err != nil {
			t.Fatal(err)
		}
		for _, seat := range mustSeats(t, s, log) {
			if seat.Connection != "a" && !seat.Revoked {
				t.Errorf("%+v", seat)
			}
		}
	})
}
