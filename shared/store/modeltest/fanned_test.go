package modeltest_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// fanned sends the records of a table to its watchers as the fan-out does, right after
// each write: whoever subscribes later gets nothing of it.
type fanned struct {
	t      *testing.T
	under  table.Engine
	engine table.Engine // records what is written
	store  *stores.Store
	sent   map[string][]watch.Message // by connection

	mu  sync.Mutex
	old map[table.Key]table.Item // of the write under way
}

func newFanned(t *testing.T, st *stage) *fanned {
	t.Helper()
	f := &fanned{t: t, under: st.engine, store: st.store, sent: map[string][]watch.Message{}}
	f.engine = hooks.New(st.engine, hooks.Hooks{Before: f.before, After: f.after})
	return f
}

// before reads what the write replaces, whether or not its caller has died.
func (f *fanned) before(_ context.Context, c hooks.Call) error {
	if !c.Writing() {
		return nil
	}
	f.mu.Lock() // until the write is over
	f.old = map[table.Key]table.Item{}
	for _, w := range c.Writes {
		f.old[w.Key] = storetest.Item(f.t, f.under, w.Key) //nolint:contextcheck // the test's own
	}
	return nil
}

func (f *fanned) after(_ context.Context, c hooks.Call, _ table.Units, err error) error {
	if !c.Writing() {
		return err
	}
	defer f.mu.Unlock()
	for key, old := range f.old {
		now := storetest.Item(f.t, f.under, key) //nolint:contextcheck // the test's own
		if err == nil && !reflect.DeepEqual(old, now) && now != nil && passes(key, now) {
			f.deliver(records.Change{Old: old, New: now}) //nolint:contextcheck // the test's own
		}
	}
	return err
}

// passes is the filter of the fan-out in template.yaml.
func passes(key table.Key, now table.Item) bool {
	return strings.HasPrefix(key.SK, "E#") || strings.HasPrefix(key.SK, "SG#") && now["q"] == nil
}

func (f *fanned) deliver(c records.Change) {
	ctx := context.WithoutCancel(f.t.Context())
	update, err := f.store.WatchMessages(ctx, c)
	if err != nil {
		f.t.Error(err)
		return
	}
	_, subs, err := f.store.Subscriptions.Watchers(ctx, update.Log)
	if err != nil {
		f.t.Error(err)
	}
	for _, sub := range subs {
		f.sent[sub.Connection] = append(f.sent[sub.Connection], update.Messages...)
	}
}
