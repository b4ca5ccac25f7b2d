package stores_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// limited is a store with quotas and a clock of its own.
func limited(t *testing.T, l quota.Limits) (*stores.Store, *calendar) {
	t.Helper()
	c := &calendar{}
	return newStore(t, stores.WithClock(c.now), stores.WithQuotas(l)), c
}

// mustExceed checks that an error says which quota is full, and returns what it
// tells of it.
func mustExceed(t *testing.T, err error, name string, limit int64) map[string]any {
	t.Helper()
	told := mustBeBusy(t, err)
	if told["quota"] != name || told["limit"] != limit {
		t.Fatalf("%v (%v), want that %s are limited to %d", err, told, name, limit)
	}
	return told
}

func mustUse(t *testing.T, s *stores.Store, sessions, runs int64) {
	t.Helper()
	u, err := s.Runs.Usage(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	if u.Sessions.Used != sessions || u.Runs.Used != runs {
		t.Errorf("%d sessions and %d runs are used, want %d and %d", u.Sessions.Used, u.Runs.Used, sessions, runs)
	}
}

// countedItem reads alice's stored usage; nil if there is none.
func countedItem(t *testing.T, engine table.Engine) table.Item {
	t.Helper()
	return storetest.Item(t, engine, table.NewKey("Q#"+alice, "USE"))
}

func tryCreate(t *testing.T, s *stores.Store, id string) error {
	t.Helper()
	n := session.New{ID: id, UserID: alice, Nonce: mustID(t)}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Sessions.Create(t.Context(), n)
	return err
}

func TestSessionQuota(t *testing.T) {
	t.Parallel()
	const most = 3
	full := func(t *testing.T) (*stores.Store, *calendar) {
		t.Helper()
		s, clock := limited(t, quota.Limits{Sessions: most})
		for i := range most {
			mustCreate(t, s, alice, fmt.Sprint("s", i), nil)
		}
		return s, clock
	}
	t.Run("no way to make one leads past it", func(t *testing.T) {
		t.Parallel()
		s, _ := full(t)
		mustExceed(t, tryCreate(t, s, "more"), quota.Sessions, most)
		_, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s0", ID: "f", Nonce: "n"})
		mustExceed(t, err, quota.Sessions, most)
		u := upload(t, document(t))
		u.UserID = alice
		_, err = s.Archives.Import(t.Context(), u)
		mustExceed(t, err, quota.Sessions, most)
		mustUse(t, s, most, 0)
		if _, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s0", DryRun: true}); err != nil {
			t.Errorf("what a fork would be: %v", err)
		}
		mustCreate(t, s, bob, "his", nil)
	})
	t.Run("a deletion makes room", func(t *testing.T) {
		t.Parallel()
		s, _ := full(t)
		if err := s.Sessions.Delete(t.Context(), alice, "s0"); err != nil {
			t.Fatal(err)
		}
		mustCreate(t, s, alice, "more", nil)
		mustExceed(t, tryCreate(t, s, "still more"), quota.Sessions, most)
	})
	t.Run("a creation that is repeated is answered as it was", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Sessions: 1})
		n := session.New{ID: "s", UserID: alice, Nonce: "n"}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		var got [2]session.Session
		for i := range got {
			var err error
			if got[i], err = s.Sessions.Create(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("sessions from before there was a limit count, and make room", func(t *testing.T) {
		t.Parallel()
		clock, engine := &calendar{}, storetest.Engine(t)
		before := stores.New(engine)
		for i := range most {
			mustCreate(t, before, alice, fmt.Sprint("s", i), nil)
		}
		s := stores.New(engine, stores.WithClock(clock.now), stores.WithQuotas(quota.Limits{Sessions: most}))
		mustExceed(t, tryCreate(t, s, "more"), quota.Sessions, most)
		if err := s.Sessions.Delete(t.Context(), alice, "s0"); err != nil {
			t.Fatal(err)
		}
		mustExceed(t, tryCreate(t, s, "more"), quota.Sessions, most) // they are counted once a minute
		clock.forward(61 * time.Second)
		if err := tryCreate(t, s, "more"); err != nil {
			t.Error(err)
		}
		mustUse(t, s, most, 0)
	})
	t.Run("an erasure deletes the usage", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine, stores.WithQuotas(quota.Limits{Sessions: most, Runs: 1}))
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		if _, err := s.Lifecycle.Erase(t.Context(), alice); err != nil {
			t.Fatal(err)
		}
		if left := countedItem(t, engine); left != nil {
			t.Errorf("left: %v", left)
		}
	})
}

// TestSessionQuota_racing makes far more sessions at once than are allowed.
func TestSessionQuota_racing(t *testing.T) {
	t.Parallel()
	const most, all = 5, 20
	s, _ := limited(t, quota.Limits{Sessions: most})
	var made atomic.Int64
	var racing sync.WaitGroup
	for i := range all {
		racing.Go(func() {
			switch err := tryCreate(t, s, fmt.Sprint("s", i)); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fault.Of(fault.Busy)):
				t.Error(err)
			}
		})
	}
	racing.Wait()
	if n := made.Load(); n != most {
		t.Errorf("%d sessions were made, want %d", n, most)
	}
	mustUse(t, s, most, 0)
}
