package stores_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// calendar is a clock that tests set forward.
type calendar struct{ ahead atomic.Int64 }

func (c *calendar) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *calendar) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// kept is a store whose sessions are kept for an hour, those of the agent
// "brief" for two minutes.
func kept(t *testing.T) (*stores.Store, *calendar) {
	t.Helper()
	c := &calendar{}
	return newStore(t, stores.WithClock(c.now), stores.WithRetention(func(agent string) int64 {
		if agent == "brief" {
			return 120
		}
		return 3600
	})), c
}

func mustSweep(t *testing.T, s *stores.Store, want int) {
	t.Helper()
	if n, err := s.Lifecycle.SweepRetention(t.Context()); err != nil || n != want {
		t.Errorf("%d sessions were deleted, %v, want %d", n, err, want)
	}
}

func mustGet(t *testing.T, s *stores.Store, id string) session.Session {
	t.Helper()
	got, err := s.Sessions.Get(t.Context(), alice, id)
	if err != nil {
		t.Fatalf("read session %s: %v", id, err)
	}
	return got
}

func mustBeGone(t *testing.T, s *stores.Store, id string) {
	t.Helper()
	if _, err := s.Sessions.Get(t.Context(), alice, id); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("session %s: %v", id, err)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	seconds := func(n int64) *int64 { return &n }
	create := func(t *testing.T, s *stores.Store, n session.New) session.Session {
		t.Helper()
		n.ID, n.UserID, n.Nonce = "s", alice, mustID(t)
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		got, err := s.Sessions.Create(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}

	t.Run("the first that is set holds: the session's, its agent's, the deployment's", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			n    session.New
			want int64
		}{
			{session.New{}, 3600},
			{session.New{Agent: "brief"}, 120},
			{session.New{Agent: "brief", Retention: 60}, 60},
			{session.New{Retention: 90, State: session.Delta{"k": []byte("1")}}, 90},
		} {
			s, clock := kept(t)
			got := create(t, s, c.n)
			if got.Retention != c.want || got.ExpiresTime != got.UpdatedTime+1000*c.want {
				t.Errorf("%+v is kept for %d s, until %d ms after its last activity", c.n,
					got.Retention, got.ExpiresTime-got.UpdatedTime)
			}
			clock.forward(time.Duration(c.want-5) * time.Second)
			mustSweep(t, s, 0)
			clock.forward(6 * time.Second)
			mustSweep(t, s, 1)
			mustBeGone(t, s, "s")
		}
	})
	t.Run("without any a session says nothing of it and is kept", func(t *testing.T) {
		t.Parallel()
		clock := &calendar{}
		s := newStore(t, stores.WithClock(clock.now))
		if got := create(t, s, session.New{}); got.Retention != 0 || got.ExpiresTime != 0 {
			t.Errorf("made %+v", got)
		}
		clock.forward(200 * 365 * 24 * time.Hour)
		mustSweep(t, s, 0)
		mustGet(t, s, "s")
	})
	t.Run("an append and a change keep it", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		create(t, s, session.New{Retention: 60})
		clock.forward(50 * time.Second)
		mustAppend(t, s, alice, "s", event(t, "", "i", "hello"))
		clock.forward(50 * time.Second)
		mustSweep(t, s, 0)
		name := "renamed"
		if _, err := s.Sessions.Update(t.Context(), alice, "s", session.Patch{Name: &name}); err != nil {
			t.Fatal(err)
		}
		clock.forward(50 * time.Second)
		mustSweep(t, s, 0)
		if got := mustGet(t, s, "s"); got.Name != name || got.HeadSeq != 1 || got.Retention != 60 {
			t.Errorf("reads %+v", got)
		}
		clock.forward(11 * time.Second)
		mustSweep(t, s, 1)
		mustBeGone(t, s, "s")
	})
	t.Run("a change may shorten it, lengthen it and take it away", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		was := create(t, s, session.New{Retention: 7200})
		patch := func(n, want int64) {
			t.Helper()
			got, err := s.Sessions.Update(t.Context(), alice, "s", session.Patch{Retention: seconds(n)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, mustGet(t, s, "s")); diff != "" || got.Retention != want || got.Version <= was.Version {
				t.Errorf("kept for %d s, want %d\n%s", got.Retention, want, diff)
			}
		}
		patch(60, 60)
		patch(600, 600)
		clock.forward(500 * time.Second)
		mustSweep(t, s, 0)
		patch(0, 3600)
		clock.forward(3500 * time.Second)
		mustSweep(t, s, 0)
		clock.forward(101 * time.Second)
		mustSweep(t, s, 1)
	})
	t.Run("a fork inherits what its source was given, and is kept from then on", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		create(t, s, session.New{Retention: 60})
		mustAppend(t, s, alice, "s", event(t, "", "i", "hello"))
		clock.forward(59 * time.Second)
		f, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s", ID: "f", Nonce: "n"})
		if err != nil {
			t.Fatal(err)
		}
		if f.Retention != 60 {
			t.Errorf("the fork is kept for %d s", f.Retention)
		}
		clock.forward(30 * time.Second)
		mustSweep(t, s, 1) // the source: being forked is no activity
		mustBeGone(t, s, "s")
		if got := mustEvents(t, s, alice, "f", session.EventQuery{}); len(got) != 1 {
			t.Errorf("the fork shows %q", texts(got))
		}
		clock.forward(31 * time.Second)
		mustSweep(t, s, 1)
		mustBeGone(t, s, "f")
	})
	t.Run("forks read on what their source has left", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		create(t, s, session.New{Agent: "brief"})
		mustAppend(t, s, alice, "s", event(t, "", "i", "hello"))
		if _, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s", ID: "f", Nonce: "n"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sessions.Update(t.Context(), alice, "f", session.Patch{Retention: seconds(7200)}); err != nil {
			t.Fatal(err)
		}
		clock.forward(time.Hour)
		mustSweep(t, s, 1)
		mustBeGone(t, s, "s")
		if got := mustEvents(t, s, alice, "f", session.EventQuery{}); len(got) != 1 {
			t.Errorf("the fork shows %q", texts(got))
		}
	})
	t.Run("a run keeps it, and so does its end", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		create(t, s, session.New{Retention: 60})
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		for range 4 {
			clock.forward(30 * time.Second)
			if err := s.Runs.Renew(t.Context(), refOf("s", "r")); err != nil {
				t.Fatal(err)
			}
			mustSweep(t, s, 0)
		}
		mustEnd(t, s, refOf("s", "r"), run.Completed, nil)
		clock.forward(50 * time.Second)
		mustSweep(t, s, 0)
		clock.forward(11 * time.Second)
		mustSweep(t, s, 1)
	})
	t.Run("an abandoned run does not keep it for ever", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		create(t, s, session.New{Retention: 60})
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		clock.forward(time.Hour)
		mustSweep(t, s, 0)                            // it ends now
		clock.forward(time.Minute + time.Millisecond) // a timer is not yet due in its own millisecond
		mustSweep(t, s, 1)
	})
	t.Run("an imported session is kept from the import on", func(t *testing.T) {
		t.Parallel()
		s, clock := kept(t)
		create(t, s, session.New{Retention: 60})
		mustAppend(t, s, alice, "s", event(t, "", "i", "hello"))
		var doc bytesOf
		if err := s.Archives.Export(t.Context(), alice, "s", archive.NewWriter(&doc)); err != nil {
			t.Fatal(err)
		}
		clock.forward(24 * time.Hour)
		mustSweep(t, s, 1)
		u := upload(t, doc)
		u.UserID = alice
		p, err := s.Archives.Import(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if p.Session.Retention != 3600 || p.Session.ExpiresTime < clock.now().Add(50*time.Minute).UnixMilli() {
			t.Errorf("imported %+v", p.Session)
		}
		clock.forward(50 * time.Minute)
		mustSweep(t, s, 0)
		clock.forward(11 * time.Minute)
		mustSweep(t, s, 1)
	})
}

// bytesOf is what was written.
type bytesOf []byte

func (b *bytesOf) Write(p []byte) (int, error) { *b = append(*b, p...); return len(p), nil }

// TestRetention_leaves_nothing deletes sessions by request and by their
// retention: the table contains nothing of them afterwards, timers included.
func TestRetention_leaves_nothing(t *testing.T) {
	t.Parallel()
	clock, engine := &calendar{}, storetest.Engine(t)
	s := stores.New(engine, stores.WithClock(clock.now),
		stores.WithRetention(func(string) int64 { return 60 }))
	for _, id := range []string{"deleted", "due", "released"} {
		mustCreate(t, s, alice, id, session.Delta{"k": []byte("1")})
		mustAppend(t, s, alice, id, event(t, "", "i", "hello"))
	}
	forever := stores.New(engine)
	if _, err := forever.Sessions.Update(t.Context(), alice, "released", session.Patch{Retention: new(int64)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Sessions.Delete(t.Context(), alice, "deleted"); err != nil {
		t.Fatal(err)
	}
	clock.forward(2 * time.Minute)
	mustSweep(t, s, 1)
	if got := mustGet(t, s, "released"); got.Retention != 0 {
		t.Errorf("kept for %d s", got.Retention)
	}
	if err := s.Sessions.Delete(t.Context(), alice, "released"); err != nil {
		t.Fatal(err)
	}
	clock.forward(time.Hour)
	if n, err := s.Lifecycle.Sweep(t.Context()); n != 3 || err != nil {
		t.Errorf("%d logs were swept, %v", n, err)
	}
	if left := keysIn(t, engine); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRetention_racing_append appends between the sweeper's read of a session and
// its deletion: an acknowledged event is never lost.
func TestRetention_racing_append(t *testing.T) {
	t.Parallel()
	clock, engine := &calendar{}, storetest.Engine(t)
	s := stores.New(engine, stores.WithClock(clock.now),
		stores.WithRetention(func(string) int64 { return 60 }))
	mustCreate(t, s, alice, "s", nil)
	mustAppend(t, s, alice, "s", event(t, "", "i", "one"))
	clock.forward(2 * time.Minute)

	appended, two := false, event(t, "", "i", "two")
	sweeper := before(engine, func(ctx context.Context, c hooks.Call) error {
		if c.Op == hooks.Transact && deletes(c.Writes) && !appended {
			_, _, err := s.Sessions.Append(ctx, session.Append{SessionID: "s", UserID: alice, Events: []session.Event{two}})
			if err != nil {
				t.Error(err)
			}
			appended = true
		}
		return nil
	}, stores.WithClock(clock.now))
	mustSweep(t, sweeper, 0)
	if !appended {
		t.Fatal("nothing was appended in between")
	}
	if got := texts(mustEvents(t, s, alice, "s", session.EventQuery{})); len(got) != 2 {
		t.Errorf("the session shows %q", got)
	}
	mustSweep(t, sweeper, 0) // it lives
	clock.forward(2 * time.Minute)
	mustSweep(t, sweeper, 1)
	if _, _, err := s.Sessions.Append(t.Context(), session.Append{
		SessionID: "s", UserID: alice, Events: []session.Event{event(t, "", "i", "three")},
	}); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("appended to a deleted session: %v", err)
	}
}

// deletes reports whether a transaction takes a session's header away.
func deletes(writes []table.Write) bool {
	return slices.ContainsFunc(writes, func(w table.Write) bool { return w.Kind == table.DeleteKind && w.Key.SK == "HEAD" })
}
