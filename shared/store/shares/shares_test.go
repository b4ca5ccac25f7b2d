package shares_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// rightOf returns a user's right to a session.
func rightOf(t testing.TB, s *stores.Store, user, id string, now time.Time) access.Right {
	t.Helper()
	grants, err := s.Shares.CallerGrants(t.Context(), user, id)
	if err != nil {
		t.Fatalf("grants: %v", err)
	}
	for _, a := range []access.Action{access.AppendEvents, access.ReadSession} {
		if pass, err := access.Decide(access.Caller{UserID: user}, grants, a, now.UnixMilli()); err == nil {
			return pass.Right
		}
	}
	return access.None
}

func TestShares(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	t.Run("a repeat returns the first share", func(t *testing.T) {
		t.Parallel()
		id := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		now := time.Now()
		for _, life := range []time.Duration{0, time.Hour} {
			n := access.NewShare{ID: uuid.NewString(), OwnerID: fixture.Alice, SessionID: id, Right: access.Write, UserID: "bob", Life: life}
			var made []access.SharedWith
			for again := range 2 {
				at := stores.WithClock(func() time.Time { return now.Add(time.Duration(again) * time.Minute) })
				share, err := stores.New(engine, at).Shares.Share(t.Context(), n)
				if err != nil {
					t.Fatal(err)
				}
				made = append(made, share)
			}
			if diff := cmp.Diff(made[0], made[1]); diff != "" {
				t.Error(diff)
			}
			n.Right = access.Read
			if other, err := s.Shares.Share(t.Context(), n); err != nil || other.Access != access.Read {
				t.Errorf("a repeat with another request: %+v, %v", other, err)
			}
		}
	})
	t.Run("a repeat with the same token leaves a link that works", func(t *testing.T) {
		t.Parallel()
		id := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		n := access.NewShare{ID: uuid.NewString(), SessionID: id, Right: access.Read, Token: "token of " + id}
		for range 2 {
			fixture.Share(t, s, n)
		}
		if _, err := s.Shares.Accept(t.Context(), fixture.Bob, n.Token); err != nil {
			t.Error(err)
		}
	})
	t.Run("limits the shares of a session", func(t *testing.T) {
		t.Parallel()
		id := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		const racing = 8
		for i := range access.MaxShares - 3 {
			fixture.Share(t, s, access.NewShare{SessionID: id, Right: access.Read, UserID: "user-" + strconv.Itoa(i)})
		}
		var wg sync.WaitGroup
		errs := make(chan error, racing)
		for i := range racing {
			wg.Go(func() {
				_, err := s.Shares.Share(t.Context(), access.NewShare{
					ID: uuid.NewString(), OwnerID: fixture.Alice, SessionID: id, Right: access.Read, UserID: "late-" + strconv.Itoa(i),
				})
				errs <- err
			})
		}
		wg.Wait()
		close(errs)
		refused := 0
		for err := range errs {
			if err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
				t.Fatal(err)
			}
			if err != nil {
				refused++
			}
		}
		shares, err := s.Shares.Shares(t.Context(), fixture.Alice, id)
		if err != nil || len(shares) != access.MaxShares || refused != racing-3 {
			t.Errorf("%d shares, %d refused (%v)", len(shares), refused, err)
		}
	})
	t.Run("distinguishes users whose ids have a common prefix", func(t *testing.T) {
		t.Parallel()
		id := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		fixture.Share(t, s, access.NewShare{SessionID: id, Right: access.Read, UserID: "bob/x"})
		if got := rightOf(t, s, fixture.Bob, id, time.Now()); got != access.None {
			t.Errorf("bob may %s", got)
		}
		if got := rightOf(t, s, "bob/x", id, time.Now()); got != access.Read {
			t.Errorf("bob/x may %s", got)
		}
	})
	t.Run("a link that was revoked while it was accepted gives no access", func(t *testing.T) {
		t.Parallel()
		id := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		share := fixture.Share(t, s, access.NewShare{SessionID: id, Right: access.Write, Token: "race-" + id})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				_, err := s.Shares.Accept(t.Context(), "racer-"+strconv.Itoa(i), "race-"+id)
				if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
					t.Errorf("accept: %v", err)
				}
			})
		}
		wg.Go(func() {
			if err := s.Shares.Revoke(t.Context(), fixture.Alice, id, share); err != nil {
				t.Errorf("revoke: %v", err)
			}
		})
		wg.Wait()
		for i := range 8 {
			if got := rightOf(t, s, "racer-"+strconv.Itoa(i), id, time.Now()); got != access.None {
				t.Errorf("racer %d may %s", i, got)
			}
		}
	})
	t.Run("counts the users of a link who have not left", func(t *testing.T) {
		t.Parallel()
		id := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		token := "counted-" + id
		fixture.Share(t, s, access.NewShare{ID: "a-link-" + id, SessionID: id, Right: access.Read, Token: token})
		fixture.Share(t, s, access.NewShare{ID: "by-name-" + id, SessionID: id, Right: access.Read, UserID: fixture.Bob})
		want := func(count int64) {
			t.Helper()
			all, err := s.Shares.Shares(t.Context(), fixture.Alice, id)
			if err != nil {
				t.Fatal(err)
			}
			for _, share := range all {
				switch counted := share.AcceptedCount; {
				case share.Kind == access.ByName && counted != nil:
					t.Errorf("a share by name has a count: %d", *counted)
				case share.Kind == access.ByLink && (counted == nil || *counted != count):
					t.Errorf("the link has the count %v, want %d", counted, count)
				}
			}
		}
		want(0)
		var wg sync.WaitGroup
		for _, user := range []string{"guest-1", "guest-1", "guest-2"} { // one of them in two tabs
			wg.Go(func() {
				if _, err := s.Shares.Accept(t.Context(), user, token); err != nil {
					t.Errorf("accept: %v", err)
				}
			})
		}
		wg.Wait()
		want(2)
		if err := s.Shares.LeaveSession(t.Context(), "guest-1", id); err != nil {
			t.Fatal(err)
		}
		want(1)
	})
	t.Run("lists the owners who share with a user without duplicates", func(t *testing.T) {
		t.Parallel()
		guest := "guest-" + uuid.NewString()
		var want []string
		for range access.MaxSharingOwners + 1 {
			owner, id := "owner-"+uuid.NewString(), uuid.NewString()
			fixture.Session(t, s, owner, id, nil)
			n := access.NewShare{ID: uuid.NewString(), OwnerID: owner, SessionID: id, Right: access.Read, UserID: guest}
			if _, err := s.Shares.Share(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			n.ID, want = uuid.NewString(), append(want, owner)
			if _, err := s.Shares.Share(t.Context(), n); err != nil { // twice
				t.Fatal(err)
			}
		}
		got, err := s.Shares.SharingOwners(t.Context(), guest)
		slices.Sort(want)
		if slices.Sort(got); err != nil || len(got) != access.MaxSharingOwners || len(slices.Compact(got)) != access.MaxSharingOwners {
			t.Fatalf("%d owners, %v", len(got), err)
		}
		for _, owner := range got {
			if _, ok := slices.BinarySearch(want, owner); !ok {
				t.Errorf("%s does not share", owner)
			}
		}
		if got, err := s.Shares.SharingOwners(t.Context(), want[0]); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("nothing is left of the shares of a deleted session", func(t *testing.T) {
		t.Parallel()
		id, guest := uuid.NewString(), "guest-"+uuid.NewString()
		fixture.Session(t, s, fixture.Alice, id, nil)
		fixture.Share(t, s, access.NewShare{SessionID: id, Right: access.Read, UserID: guest})
		fixture.Share(t, s, access.NewShare{SessionID: id, Right: access.Read, Token: "gone-" + id})
		if _, err := s.Shares.Accept(t.Context(), guest, "gone-"+id); err != nil {
			t.Fatal(err)
		}
		if n := len(fixture.ItemsAbout(t, engine, id)); n == 0 {
			t.Fatal("no item names the session")
		}
		if err := s.Sessions.Delete(t.Context(), fixture.Alice, id); err != nil {
			t.Fatal(err)
		}
		if left := fixture.ItemsAbout(t, engine, id); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if _, err := s.Shares.Accept(t.Context(), guest, "gone-"+id); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("accept: %v", err)
		}
	})
}

// TestSharesModel compares users' rights, after any actions of owners and guests and
// as time passes, with a list of the grants.
func TestSharesModel(t *testing.T) {
	t.Parallel()
	clock := time.UnixMilli(1_700_000_000_000)
	s := fixture.Store(t, stores.WithClock(func() time.Time { return clock }))
	type given struct {
		share, token, user string
		right              access.Right
		until              time.Time
		guests             map[string]bool
	}
	storetest.Check(t, 20, func(r *rapid.T) { // each case makes some two hundred requests
		id := uuid.NewString()
		users := []string{"bob-" + id, "carol-" + id, "dave-" + id}
		fixture.Session(t, s, fixture.Alice, id, nil)
		var all []*given
		pick := func(r *rapid.T) *given {
			if len(all) == 0 {
				r.Skip("nothing is shared")
			}
			return all[rapid.IntRange(0, len(all)-1).Draw(r, "share")]
		}
		r.Repeat(map[string]func(*rapid.T){
			"share": func(r *rapid.T) {
				g := &given{
					share: uuid.NewString(), right: rapid.SampledFrom([]access.Right{access.Read, access.Write}).Draw(r, "right"),
					guests: map[string]bool{},
				}
				life := time.Duration(rapid.IntRange(0, 3).Draw(r, "life")) * time.Second
				if life > 0 {
					g.until = clock.Add(life)
				}
				if rapid.Bool().Draw(r, "by name") {
					g.user = rapid.SampledFrom(users).Draw(r, "user")
					g.guests[g.user] = true
				} else {
					g.token = uuid.NewString()
				}
				fixture.Share(t, s, access.NewShare{
					ID: g.share, SessionID: id, Right: g.right, UserID: g.user, Life: life, Token: g.token,
				})
				all = append(all, g)
			},
			"accept": func(r *rapid.T) {
				g, user := pick(r), rapid.SampledFrom(users).Draw(r, "user")
				_, err := s.Shares.Accept(t.Context(), user, g.token)
				open := g.token != "" && (g.until.IsZero() || clock.Before(g.until))
				if open != (err == nil) {
					r.Fatalf("accept: %v, open %t", err, open)
				}
				if open {
					g.guests[user] = true
				}
			},
			"revoke": func(r *rapid.T) {
				g := pick(r)
				if err := s.Shares.Revoke(t.Context(), fixture.Alice, id, g.share); err != nil {
					r.Fatal(err)
				}
				*g = given{share: g.share, guests: map[string]bool{}}
			},
			"leave": func(r *rapid.T) {
				user := rapid.SampledFrom(users).Draw(r, "user")
				if err := s.Shares.LeaveSession(t.Context(), user, id); err != nil {
					r.Fatal(err)
				}
				for _, g := range all {
					if g.user == user {
						*g = given{share: g.share, guests: map[string]bool{}}
					}
					delete(g.guests, user)
				}
			},
			"time": func(*rapid.T) { clock = clock.Add(time.Second) },
			"": func(r *rapid.T) {
				looked := rapid.SampledFrom(users).Draw(r, "list of")
				for _, user := range users {
					want := access.None
					for _, g := range all {
						if g.guests[user] && (g.until.IsZero() || clock.Before(g.until)) {
							want = max(want, g.right)
						}
					}
					if got := rightOf(t, s, user, id, clock); got != want {
						r.Fatalf("%s may %s, want %s", user, got, want)
					}
					if user != looked {
						continue
					}
					if got := lentRight(t, s, user, id); got != want.String() && (want != access.None || got != "") {
						r.Fatalf("%s is listed with %q, want %s", user, got, want)
					}
				}
			},
		})
	})
}

// lentRight returns the right that the list of sessions shared with a user shows for
// a session.
func lentRight(t testing.TB, s *stores.Store, user, id string) string {
	t.Helper()
	for after := ""; ; {
		page, err := s.Shares.SharedWith(t.Context(), session.ListQuery{UserID: user, Limit: 50, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range page.Sessions {
			if found.ID == id {
				return found.Access
			}
		}
		if after = page.Next; after == "" {
			return ""
		}
	}
}
