package access_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
)

const now = 1_000_000

// actions are all actions, by the right that they need.
func actions() map[access.Right][]access.Action {
	return map[access.Right][]access.Action{
		access.Read: {
			access.ReadSession, access.ReadTasks, access.ReadArtifacts, access.ReadRun, access.ReadForks, access.Watch,
		},
		access.Write: {
			access.AppendEvents, access.StartRun, access.PushRun, access.CancelRun, access.Rewind, access.SaveTask,
			access.DeleteTask, access.GiveFeedback, access.PutArtifact,
		},
		access.OwnerOnly: {
			access.Rename, access.Delete, access.DeleteArtifact, access.Fork, access.Export, access.Share, access.Notify,
			"an unlisted action",
		},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	t.Run("each action needs its right", func(t *testing.T) {
		t.Parallel()
		for right, all := range actions() {
			for _, a := range all {
				if a.Right() != right {
					t.Errorf("%s takes %s, want %s", a, a.Right(), right)
				}
			}
		}
	})
	t.Run("what agents were sent is for owners and admins, not for guests", func(t *testing.T) {
		t.Parallel()
		shared := []access.Grant{{Share: "s1", Right: access.Write}}
		for _, c := range []struct {
			by     access.Caller
			grants []access.Grant
			may    bool
		}{
			{access.Caller{UserID: "alice"}, nil, true},
			{access.Caller{UserID: "root", Admin: true}, nil, true},
			{access.Caller{UserID: "root", Admin: true}, shared, true},
			{access.Caller{UserID: "bob"}, shared, false},
			{access.Caller{UserID: "bob"}, nil, false},
		} {
			p, err := access.Decide(c.by, access.CallerGrants{Owner: "alice", Grants: c.grants}, access.ReadRequests, now)
			if (err == nil) != c.may || c.may && p.Owner != "alice" || c.may && p.Guest() {
				t.Errorf("%+v with %+v: %+v, %v", c.by, c.grants, p, err)
			}
			if len(c.grants) > 0 && !c.may && !errors.Is(err, fault.Of(fault.RightRequired)) {
				t.Errorf("refused with %v", err)
			}
		}
	})
	t.Run("agrees with a naive implementation", func(t *testing.T) {
		t.Parallel()
		property.Check(t, func(t *rapid.T) {
			c := access.Caller{UserID: rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "user"), Admin: rapid.Bool().Draw(t, "admin")}
			s := access.CallerGrants{Owner: "alice", Grants: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) access.Grant {
				return access.Grant{
					Share: rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "share"),
					Right: rapid.SampledFrom([]access.Right{access.Read, access.Write, access.OwnerOnly}).Draw(t, "right"),
					Until: rapid.SampledFrom([]int64{0, now - 1, now, now + 1, now + 2}).Draw(t, "until"),
				}
			}), 0, 4).Draw(t, "grants")}
			right := rapid.SampledFrom([]access.Right{access.Read, access.Write, access.OwnerOnly}).Draw(t, "takes")
			action := rapid.SampledFrom(actions()[right]).Draw(t, "action")
			permission, err := access.Decide(c, s, action, now)
			if got := err == nil; got != mayNaively(c, s, right) {
				t.Fatalf("%+v with %+v may %s: %t", c, s, action, got)
			}
			switch {
			case err != nil:
				if !errors.Is(err, fault.Of(fault.Forbidden)) {
					t.Fatalf("refused with %v", err)
				}
			case permission.Owner != "alice" || permission.Right < right:
				t.Fatalf("pass %+v for what takes %s", permission, right)
			case c.UserID == "alice" != (permission.Right == access.OwnerOnly):
				t.Fatalf("%s has %+v", c.UserID, permission)
			case permission.Guest() && permission.Until != 0 && permission.Until <= now:
				t.Fatalf("a right that is over: %+v", permission)
			}
		})
	})
}

// mayNaively is a second implementation of the rule.
func mayNaively(c access.Caller, s access.CallerGrants, takes access.Right) bool {
	if c.UserID == s.Owner {
		return true
	}
	if takes == access.OwnerOnly {
		return false
	}
	for _, g := range s.Grants {
		if (g.Until == 0 || g.Until > now) && (takes == access.Read || g.Right != access.Read) {
			return true
		}
	}
	return c.Admin && takes == access.Read
}

// fakeGrants is the grants of users.
type fakeGrants struct {
	grants access.CallerGrants
	owners []string
	err    error
	asked  int
	ended  bool // whether shares have ended since the grants were read
}

func (b *fakeGrants) Fence(context.Context, string, string) {}

func (b *fakeGrants) IsShared(context.Context, string, string) (bool, error) {
	if b.ended {
		b.grants.Grants = nil
	}
	return !b.ended, b.err
}

func (b *fakeGrants) CallerGrants(context.Context, string, string) (access.CallerGrants, error) {
	b.asked++
	return b.grants, b.err
}

func (b *fakeGrants) SharingOwners(context.Context, string) ([]string, error) {
	b.asked++
	return b.owners, b.err
}

func TestGate(t *testing.T) {
	t.Parallel()
	gate := func(b *fakeGrants) *access.Gate {
		return access.NewGate(b, func() time.Time { return time.UnixMilli(now) }, slog.New(slog.DiscardHandler))
	}
	bob := access.Caller{UserID: "bob"}
	// does is an operation that only the owner's store allows.
	does := func(as *[]string) func(access.Permission) error {
		return func(p access.Permission) error {
			*as = append(*as, p.Owner)
			if p.Owner != "alice" {
				return fault.NotYours("session")
			}
			return nil
		}
	}
	t.Run("does not read grants for owners", func(t *testing.T) {
		t.Parallel()
		var as []string
		b := &fakeGrants{}
		err := gate(b).Do(t.Context(), access.Caller{UserID: "alice"}, "s", access.Delete, does(&as))
		if err != nil || b.asked != 0 || len(as) != 1 {
			t.Errorf("%v, asked %d times, done as %v", err, b.asked, as)
		}
	})
	t.Run("guests act as the owner", func(t *testing.T) {
		t.Parallel()
		var as []string
		b := &fakeGrants{grants: access.CallerGrants{Owner: "alice", Grants: []access.Grant{{Share: "x", Right: access.Write}}}}
		if err := gate(b).Do(t.Context(), bob, "s", access.Rewind, does(&as)); err != nil || len(as) != 2 {
			t.Errorf("%v, done as %v", err, as)
		}
	})
	t.Run("refuses a read whose share has ended meanwhile", func(t *testing.T) {
		t.Parallel()
		for ended, want := range map[bool]error{false: nil, true: fault.Of(fault.Forbidden)} {
			var as []string
			b := &fakeGrants{ended: ended, grants: access.CallerGrants{Owner: "alice", Grants: []access.Grant{{Share: "x", Right: access.Read}}}}
			if err := gate(b).Do(t.Context(), bob, "s", access.ReadSession, does(&as)); !errors.Is(err, want) || len(as) != 2 {
				t.Errorf("ended %v: %v, done as %v", ended, err, as)
			}
		}
	})
	t.Run("does nothing for a caller without the right", func(t *testing.T) {
		t.Parallel()
		var as []string
		b := &fakeGrants{grants: access.CallerGrants{Owner: "alice", Grants: []access.Grant{{Share: "x", Right: access.Read}}}}
		err := gate(b).Do(t.Context(), bob, "s", access.Rewind, does(&as))
		if !errors.Is(err, fault.Of(fault.Forbidden)) || len(as) != 1 {
			t.Errorf("%v, done as %v", err, as)
		}
	})
	t.Run("does not repeat other failures", func(t *testing.T) {
		t.Parallel()
		b := &fakeGrants{}
		err := gate(b).Do(t.Context(), bob, "s", access.Rewind, func(access.Permission) error { return fault.Missing("Session") })
		if !errors.Is(err, fault.Of(fault.NotFound)) || b.asked != 0 {
			t.Errorf("%v, asked %d times", err, b.asked)
		}
	})
	t.Run("returns other refusals to the owner", func(t *testing.T) {
		t.Parallel()
		want := fault.New(fault.Forbidden, "something else")
		b := &fakeGrants{grants: access.CallerGrants{Owner: "bob"}}
		if err := gate(b).Do(t.Context(), bob, "s", access.Rewind, func(access.Permission) error { return want }); !errors.Is(err, error(want)) {
			t.Errorf("got %v", err)
		}
	})
}
