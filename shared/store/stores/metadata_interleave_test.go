package stores_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// metadataAct is something that is done with a session, and the metadata that it showed:
// nil for none.
type metadataAct struct {
	name    string
	changes json.RawMessage // to these metadata
	do      func(ctx context.Context, s *stores.Store) (json.RawMessage, error)
}

func metadataActs(changed, small json.RawMessage) []metadataAct {
	change := func(name string, to json.RawMessage) metadataAct {
		return metadataAct{name, to, func(ctx context.Context, s *stores.Store) (json.RawMessage, error) {
			_, err := s.Sessions.Update(ctx, alice, "s", session.Patch{Metadata: to})
			return nil, err
		}}
	}
	return []metadataAct{
		change("change", changed), change("shrink", small),
		{"fork", nil, func(ctx context.Context, s *stores.Store) (json.RawMessage, error) {
			got, err := s.History.Fork(ctx, session.ForkOf{SessionID: "s", UserID: alice, ID: "f", Nonce: "f"})
			return got.Metadata, err
		}},
		{"rewind", nil, func(ctx context.Context, s *stores.Store) (json.RawMessage, error) {
			got, err := s.History.Rewind(ctx, session.Rewind{SessionID: "s", UserID: alice, Before: "two", Nonce: uuid.NewString()})
			return got.Session.Metadata, err
		}},
		{"read", nil, func(ctx context.Context, s *stores.Store) (json.RawMessage, error) {
			got, err := s.Sessions.Get(ctx, alice, "s")
			return got.Metadata, err
		}},
		{"list", nil, func(ctx context.Context, s *stores.Store) (json.RawMessage, error) {
			page, err := s.Sessions.List(ctx, session.ListQuery{UserID: alice, Limit: 10})
			for _, one := range page.Sessions {
				if one.ID == "s" {
					return one.Metadata, err
				}
			}
			return nil, errors.Join(err, errors.New("the session is not in the list"))
		}},
		{"export", nil, func(ctx context.Context, s *stores.Store) (json.RawMessage, error) {
			var doc bytes.Buffer
			switch err := s.Archives.Export(ctx, alice, "s", archive.NewWriter(&doc)); {
			case errors.Is(err, fault.Of(fault.Conflict)): // the session has changed
				return nil, nil
			case err != nil:
				return nil, err
			}
			var out struct{ Session session.Session }
			err := json.Unmarshal(doc.Bytes(), &out)
			return out.Session.Metadata, err
		}},
	}
}

// metadataScene is a session with large metadata, and a store that calls something before
// one of its requests, or before all from that one on.
type metadataScene struct {
	plain  *stores.Store
	engine *memory.Engine

	mu     sync.Mutex
	dies   bool
	count  int
	at     int
	before func(ctx context.Context) error
}

func newMetadataScene(t *testing.T, meta json.RawMessage) *metadataScene {
	t.Helper()
	c := &metadataScene{engine: memory.New(store.Schema())}
	c.plain = stores.New(c.engine)
	if _, err := c.plain.Sessions.Create(t.Context(), session.New{ID: "s", UserID: alice, AppName: "app", Metadata: meta, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, c.plain, alice, "s", event(t, "", "one", "hello"))
	mustAppend(t, c.plain, alice, "s", event(t, "", "two", "hello"))
	return c
}

// during calls work with a store before whose at-th request before is called; false if work
// needs fewer requests.
func (c *metadataScene) during(at int, before func(context.Context) error, work func(*stores.Store) error) (bool, error) {
	c.at, c.before = at, before
	s := stores.New(hooks.New(c.engine, hooks.Hooks{Before: func(ctx context.Context, _ hooks.Call) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.count++; c.count < c.at || !c.dies && c.count > c.at {
			return nil
		}
		return c.before(ctx)
	}}))
	err := work(s)
	return c.count >= at, err
}

func (c *metadataScene) items(t *testing.T) int {
	t.Helper()
	n := 0
	for _, key := range keysIn(t, c.engine) {
		if strings.Contains(key, " MD#") {
			n++
		}
	}
	return n
}

// check reads the session and its fork, and returns the number of items that these need.
func (c *metadataScene) check(t *testing.T, what string, fork bool, possible []string) int {
	t.Helper()
	ids, large := []string{"s"}, map[string]bool{}
	if fork {
		ids = append(ids, "f")
	}
	for _, id := range ids {
		got, err := c.plain.Sessions.Get(t.Context(), alice, id)
		if err != nil || !slices.Contains(possible, string(got.Metadata)) {
			t.Errorf("%s: %s has the metadata %.40s, %v", what, id, got.Metadata, err)
		}
		if len(got.Metadata) > 1000 {
			large[string(got.Metadata)] = true
		}
	}
	return len(large)
}

func (c *metadataScene) deleteAll(t *testing.T, what string, fork bool) {
	t.Helper()
	ids := []string{"s"}
	if fork {
		ids = append(ids, "f")
	}
	for _, id := range ids {
		if err := c.plain.Sessions.Delete(t.Context(), alice, id); err != nil {
			t.Errorf("%s: delete %s: %v", what, id, err)
		}
	}
	if n := c.items(t); n != 0 {
		t.Errorf("%s: %d items with metadata are left", what, n)
	}
}

// TestMetadata_interleaved does something with a session with large metadata before each
// request of something else: nothing shows other metadata than those before or after a
// change, none is lost, and no item stays that no session shows.
func TestMetadata_interleaved(t *testing.T) {
	t.Parallel()
	first, changed, small := longMetadata(t, "first", 9000), longMetadata(t, "changed", 8000), json.RawMessage(`{"a":1}`)
	cases := 0
	for _, outer := range metadataActs(changed, small) {
		for _, inner := range metadataActs(longMetadata(t, "inner", 7000), json.RawMessage(`{"b":2}`))[:4] {
			if outer.name == inner.name && outer.changes == nil {
				continue
			}
			possible := []string{string(first), string(outer.changes), string(inner.changes)}
			for at := 1; ; at++ {
				what := fmt.Sprintf("%s before request %d of %s", inner.name, at, outer.name)
				c := newMetadataScene(t, first)
				var shown json.RawMessage
				reached, err := c.during(at, func(ctx context.Context) error {
					_, err := inner.do(ctx, c.plain)
					return err
				}, func(s *stores.Store) (err error) {
					shown, err = outer.do(t.Context(), s)
					return err
				})
				if !reached {
					break
				}
				cases++
				if err != nil || shown != nil && !slices.Contains(possible, string(shown)) {
					t.Errorf("%s: %.40s, %v", what, shown, err)
				}
				fork := outer.name == "fork" || inner.name == "fork"
				want := c.check(t, what, fork, possible)
				if got := c.items(t); got != want {
					t.Errorf("%s: %d items with metadata, %d are shown", what, got, want)
				}
				c.deleteAll(t, what, fork)
			}
		}
	}
	if t.Logf("%d cases", cases); cases < 100 {
		t.Errorf("%d cases", cases)
	}
}

// TestMetadata_dies ends a change or a fork before each of its requests: the session is as
// before or after, and its deletion leaves no metadata behind.
func TestMetadata_dies(t *testing.T) {
	t.Parallel()
	first, changed, small := longMetadata(t, "first", 9000), longMetadata(t, "changed", 8000), json.RawMessage(`{"a":1}`)
	died, cases := errors.New("the process died"), 0
	for _, act := range metadataActs(changed, small)[:3] {
		for at := 1; ; at++ {
			what := fmt.Sprintf("died before request %d of %s", at, act.name)
			c := newMetadataScene(t, first)
			c.dies = true
			reached, err := c.during(at, func(context.Context) error { return died },
				func(s *stores.Store) error {
					_, err := act.do(t.Context(), s)
					return err
				})
			if !reached {
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				break
			}
			cases++
			c.check(t, what, false, []string{string(first), string(act.changes)})
			_, err = c.plain.Sessions.Get(t.Context(), alice, "f")
			c.deleteAll(t, what, err == nil)
		}
	}
	if t.Logf("%d cases", cases); cases < 10 {
		t.Errorf("%d cases", cases)
	}
}
