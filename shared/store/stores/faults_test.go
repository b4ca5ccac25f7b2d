package stores_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// losing is a store to which the answers to a share of its writes are lost.
func losing(t *testing.T, share float64, opts ...stores.Option) *stores.Store {
	t.Helper()
	return stores.New(storetest.LosingAnswers(storetest.Engine(t), share, property.Rand(t, 0)), opts...)
}

// before is a store that calls do before each call of its table; an error of do
// replaces the call.
func before(engine table.Engine, do func(context.Context, hooks.Call) error, opts ...stores.Option) *stores.Store {
	return stores.New(storetest.Before(engine, do), opts...)
}

// readsNewest reports whether a call reads which of a user's sessions is the newest. The
// store makes it beside others, from another goroutine, and it may outlast its request.
func readsNewest(c hooks.Call) bool { return c.Query.Index != "" }

// putsEntry reports whether a call puts an entry of a log.
func putsEntry(c hooks.Call) bool {
	return c.Op == hooks.Write && strings.HasPrefix(c.Writes[0].Key.SK, "E#")
}

// Content in chunks stays complete if the answer to its write is lost.
func TestChunks_when_answers_are_lost(t *testing.T) {
	t.Parallel()
	s := losing(t, 0.5)
	mustCreate(t, s, alice, "s", nil)
	for n := range 6 {
		var b strings.Builder
		for range 20_000 {
			b.WriteString(mustID(t))
		}
		mustAppend(t, s, alice, "s", event(t, "", "i", b.String()))
		mustSave(t, s, "s", "t1", fmt.Sprintf(`[{"id":"m%d","type":"user","text":%q}]`, n, b.String()))
		if _, err := s.Tasks.Task(t.Context(), alice, "s", "t1"); err != nil {
			t.Errorf("the task after save %d: %v", n, err)
		}
	}
	if got := len(mustEvents(t, s, alice, "s", session.EventQuery{View: session.All})); got != 7 {
		t.Errorf("%d entries, want 7", got)
	}
}
