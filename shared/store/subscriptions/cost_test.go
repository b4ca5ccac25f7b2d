package subscriptions_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// crowded is a store whose session "s" has a crowd of watchers.
type crowded struct {
	*stores.Store
	meter *capacity.Meter
	log   string
}

// crowds returns the sizes that a price must not depend on.
func crowds() []int {
	if storetest.Few() {
		return []int{0, 100}
	}
	return []int{0, 1000, 20_000}
}

func newCrowded(t *testing.T, owners, guests int) crowded {
	t.Helper()
	c := crowded{meter: &capacity.Meter{}}
	c.Store = stores.New(c.meter.Around(storetest.Engine(t)), stores.WithCodec(storetest.Codec()))
	fixture.Session(t, c.Store, fixture.Alice, "s", nil)
	fixture.LetIn(t, c.Store, "s", "link", "")
	fixture.LetIn(t, c.Store, "s", "other", "carol")
	c.log = fixture.Log(t, c.Store, "s")
	for i := range owners + guests {
		sub := member("")
		if i >= owners {
			sub = member("link")
		}
		sub.Connection = fmt.Sprintf("m%014d=", i) // in order, which the memory engine stores fastest
		fixture.Subscribe(t, c.Store, sub)
	}
	return c
}

// member returns a new connection's subscription, of a guest if it names a share.
func member(share string) watch.Subscription {
	sub := fixture.Subscription("s", uuid.NewString()[:15]+"=", fixture.Bob, share)
	sub.Expires = 1_800_000_000
	return sub
}

// cost returns the price of an operation.
func (c crowded) cost(t *testing.T, do func() error) capacity.Usage {
	t.Helper()
	before := c.meter.Total()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return c.meter.Total().Sub(before)
}

// Joining and leaving cost the same however many others watch.
func TestCost(t *testing.T) {
	t.Parallel()
	for _, size := range crowds() {
		t.Run(fmt.Sprint(size, " others"), func(t *testing.T) {
			t.Parallel()
			c := newCrowded(t, size/2, size/2)
			for name, share := range map[string]string{"the owner": "", "a guest": "link"} {
				sub := member(share)
				join := c.cost(t, func() error { return c.Subscriptions.Subscribe(t.Context(), sub) })
				again := c.cost(t, func() error { return c.Subscriptions.Subscribe(t.Context(), sub) })
				if join.Writes > 2 || join.Reads > 1 || again.Writes > 2 {
					t.Errorf("%s joins: %v, again: %v", name, join, again)
				}
				watched := c.cost(t, func() error { _, err := c.Subscriptions.Watched(t.Context(), c.log); return err })
				if watched.Requests != 1 || watched.Reads > 1 {
					t.Errorf("%s: finding out whether anybody watches: %v", name, watched)
				}
				if leave := c.cost(t, func() error { return c.Subscriptions.Disconnect(t.Context(), sub.Connection) }); leave.Writes > 1 || leave.Reads > 1 {
					t.Errorf("%s leaves: %v", name, leave)
				}
			}
			if found := len(fixture.Watchers(t, c.Store, c.log)); found != size {
				t.Errorf("%d watchers", found)
			}
		})
	}
}

// The end of a share costs what it ends: the share and its guests' rights, however many
// watch.
func TestCost_revocation(t *testing.T) {
	t.Parallel()
	const guests, rights = 500, 20
	c := newCrowded(t, 1000, guests)
	for i := range rights {
		fixture.Accept(t, c.Store, fmt.Sprint("guest", i), "link")
	}
	revoke := c.cost(t, func() error { return c.Shares.Revoke(t.Context(), fixture.Alice, "s", "link") })
	if revoke.Writes > 5+2*rights || revoke.Reads > 10 {
		t.Errorf("the end of a link with %d guests costs %v", rights, revoke)
	}
	ended := 0
	for _, sub := range fixture.Watchers(t, c.Store, c.log) {
		if sub.Revoked {
			ended++
		}
	}
	if ended != guests {
		t.Errorf("%d subscriptions have ended", ended)
	}
}

// A guest's subscription writes nothing in a transaction, in which guests would meet.
func TestSubscribe_withoutTransactions(t *testing.T) {
	t.Parallel()
	engine := hooks.New(storetest.Engine(t), hooks.Hooks{Before: func(_ context.Context, c hooks.Call) error {
		if c.Op == hooks.Transact && watching(c.Writes) {
			t.Errorf("a transaction of %d writes", len(c.Writes))
		}
		return nil
	}})
	s := stores.New(engine, stores.WithCodec(storetest.Codec()))
	fixture.Session(t, s, fixture.Alice, "s", nil)
	fixture.LetIn(t, s, "s", "link", "")
	sub := member("link")
	fixture.Subscribe(t, s, sub)
	if err := s.Subscriptions.Disconnect(t.Context(), sub.Connection); err != nil {
		t.Fatal(err)
	}
}

// watching reports whether one of the writes is of a watcher.
func watching(writes []table.Write) bool {
	return slices.ContainsFunc(writes, func(w table.Write) bool {
		return strings.HasPrefix(w.Key.PK, "W") && !strings.HasPrefix(w.Key.SK, "R#")
	})
}
