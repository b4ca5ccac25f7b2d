package stores_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// counted is a store that counts what its last read requested.
type counted struct {
	*stores.Store
	t testing.TB

	entries, ranges, searches, batches int
	broken                             bool // no batch is written
}

func newCounted(t testing.TB, rules compaction.Rules) *counted {
	t.Helper()
	c := &counted{t: t}
	engine := hooks.New(storetest.Engine(t), hooks.Hooks{Before: c.before, Items: c.count})
	c.Store = stores.New(engine, stores.WithCompaction(rules))
	return c
}

func (c *counted) before(_ context.Context, call hooks.Call) error {
	if call.Op == hooks.BatchWrite {
		if c.batches++; c.broken {
			return errors.New("no batch is written")
		}
	}
	return nil
}

func (c *counted) count(call hooks.Call, found []table.Item) []table.Item {
	switch {
	case call.Op != hooks.Query:
	case strings.HasPrefix(call.Query.From, "P#"):
		c.searches++
		c.ranges += len(found)
	case strings.HasPrefix(call.Query.From, "E#"):
		c.entries += len(found)
	}
	return found
}

// read reads a page, and resets the counts.
func (c *counted) read(id string, limit int) []string {
	c.t.Helper()
	c.entries, c.ranges, c.searches, c.batches = 0, 0, 0, 0
	page, err := c.Sessions.Events(c.t.Context(), alice, id, session.EventQuery{View: session.Effective, Limit: limit})
	if err != nil {
		c.t.Fatalf("read %s: %v", id, err)
	}
	out := texts(page.Events)
	for i := range out {
		_, out[i], _ = strings.Cut(out[i], ":") // a fork renumbers
	}
	return out
}

// again appends turns that are retried: the first answer is rewound.
func (c *counted) again(from, to int) {
	c.t.Helper()
	const id = "s"
	for turn := from; turn < to; turn++ {
		for try := range 2 {
			invocation := fmt.Sprintf("turn %d, %d", turn, try)
			mustAppend(c.t, c.Store, alice, id, event(c.t, "", invocation, "question of "+invocation))
			mustAppend(c.t, c.Store, alice, id, event(c.t, "", invocation, "answer of "+invocation))
			if try == 0 {
				mustRewind(c.t, c.Store, id, invocation)
			}
		}
	}
}

// same reads again and checks for the same result.
func (c *counted) same(id string, want []string) {
	c.t.Helper()
	if d := cmp.Diff(want, c.read(id, 100)); d != "" {
		c.t.Errorf("read again (-want +got):\n%s", d)
	}
}

func small() compaction.Rules { return compaction.Rules{Bytes: 1000, Page: 20, Behind: 4} }

func TestCompaction(t *testing.T) {
	t.Parallel()
	t.Run("the first read writes them and later reads use them", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 12)
		first := s.read("s", 100)
		if len(first) != 24 || s.ranges != 0 || s.batches == 0 || s.entries < 50 {
			t.Errorf("first: %+v, %d events", s, len(first))
		}
		s.same("s", first)
		if s.ranges == 0 || s.batches > 0 || s.entries > 15 {
			t.Errorf("later: %+v", s)
		}
		s.again(12, 20)
		longer := s.read("s", 100)
		if d := cmp.Diff(first, longer[:24]); d != "" || s.ranges == 0 || s.batches == 0 {
			t.Errorf("after more turns: %+v %s", s, d)
		}
		s.same("s", longer)
		if s.batches > 0 || s.entries > 15 {
			t.Errorf("after more turns, later: %+v", s)
		}
	})
	t.Run("are not used for a session without rewinds or a small page", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "plain", nil)
		for n := range 30 {
			mustAppend(t, s.Store, alice, "plain", event(t, "", fmt.Sprint("turn ", n), "text"))
		}
		s.same("plain", s.read("plain", 100))
		if s.searches > 0 || s.batches > 0 {
			t.Errorf("plain: %+v", s)
		}
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 12)
		s.read("s", 100)
		if s.read("s", 19); s.searches > 0 {
			t.Errorf("a small page: %+v", s)
		}
	})
	t.Run("a fork uses those of its source", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 12)
		want := s.read("s", 100)
		mustFork(t, s.Store, "s", "f", nil)
		s.same("f", want)
		if s.ranges == 0 || s.entries > 15 {
			t.Errorf("fork: %+v", s)
		}
	})
	t.Run("one that lacks restored events is rebuilt", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 3)
		mustAppend(t, s.Store, alice, "s", event(t, "", "lost", "lost"))
		marker := mustRewind(t, s.Store, "s", "lost").Event.InvocationID
		s.again(3, 12)
		mustFork(t, s.Store, "s", "later", nil)
		want := s.read("later", 100)
		mustRewind(t, s.Store, "s", marker)
		s.again(12, 20)
		whole := s.read("s", 100)
		if len(whole) != 6+1+16 || whole[6] != "lost" {
			t.Errorf("after the rewind: %v", whole)
		}
		if s.batches == 0 {
			t.Errorf("not rebuilt: %+v", s)
		}
		s.same("s", whole)
		if s.batches > 0 || s.ranges == 0 {
			t.Errorf("rebuilt: %+v", s)
		}
		s.same("later", want) // what it contains for other sessions stays
		if s.batches > 0 || s.entries > 15 {
			t.Errorf("fork: %+v", s)
		}
	})
	t.Run("entries with chunks stay in the log", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 6)
		mustAppend(t, s.Store, alice, "s", event(t, "", "large", randomText(t, 600<<10)))
		s.again(6, 12)
		want := s.read("s", 100)
		s.same("s", want)
		if len(want) != 25 || s.ranges == 0 || s.batches > 0 {
			t.Errorf("%+v, %d events", s, len(want))
		}
	})
	t.Run("a failed streamed item keeps its deltas and its status", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 4)
		ref := refOf("s", "streamed")
		mustStart(t, s.Store, startOf(t, "s", "streamed", "go"))
		mustFlush(t, mustBegin(t, s.Store, ref, "item"), "a", "b")
		mustEnd(t, s.Store, ref, run.Failed, run.NewProblem("boom", "it broke"))
		s.again(4, 12)
		q := session.EventQuery{View: session.Effective, Limit: 100}
		var pages [2]session.EventPage
		for i := range pages {
			var err error
			if pages[i], err = s.Sessions.Events(t.Context(), alice, "s", q); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(pages[0], pages[1]); d != "" || s.ranges == 0 {
			t.Errorf("read again, with %d compacted ranges (-want +got):\n%s", s.ranges, d)
		}
		if at := pages[1].Events[9]; at.ID != "item" || at.Deltas != 2 || at.Status != session.EventFailed {
			t.Errorf("the item: %+v", at)
		}
	})
	t.Run("a read does not fail if they cannot be written", func(t *testing.T) {
		t.Parallel()
		s := newCounted(t, small())
		mustCreate(t, s.Store, alice, "s", nil)
		s.again(0, 12)
		s.broken = true
		want := s.read("s", 100)
		s.broken = false
		s.same("s", want)
		s.same("s", want)
		if len(want) != 24 || s.ranges == 0 {
			t.Errorf("%+v, %d events", s, len(want))
		}
	})
}
