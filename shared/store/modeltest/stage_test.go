package modeltest_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// stage is the table of a case.
type stage struct {
	t      *testing.T
	engine table.Engine
	store  *stores.Store
	kept   []table.Item // in DynamoDB Local, the items that each case begins with
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return stageOn(t, storetest.Engine(t))
}

func stageOn(t *testing.T, engine table.Engine) *stage {
	t.Helper()
	return &stage{t: t, engine: engine, store: open(engine)}
}

// fewParts makes outlines whose parts markers have after few rewinds.
const fewParts = 4

// open returns a store that compacts ranges as short as those of the tests.
func open(engine table.Engine) *stores.Store {
	return stores.New(engine, stores.WithCodec(storetest.Codec()),
		stores.WithCompaction(compaction.Rules{Bytes: 400, Page: 1}), stores.WithLease(lease), stores.WithOutlineParts(fewParts))
}

// keep makes the table's items the beginning of each case.
func (st *stage) keep() {
	if _, ok := st.engine.(*memory.Engine); !ok {
		st.kept = storetest.Items(st.t, st.engine)
	}
}

// fresh returns a stage with the kept items: a separate table in memory, the same
// one restored in DynamoDB Local.
func (st *stage) fresh(t *testing.T) *stage {
	t.Helper()
	if kept, ok := st.engine.(*memory.Engine); ok {
		return stageOn(t, kept.Clone())
	}
	there := map[string]table.Item{}
	for _, item := range storetest.Items(t, st.engine) {
		there[name(item)] = item
	}
	var writes []table.Write
	for _, item := range st.kept {
		if !reflect.DeepEqual(item, there[name(item)]) {
			writes = append(writes, table.Put(item))
		}
		delete(there, name(item))
	}
	for _, item := range there {
		writes = append(writes, table.Delete(table.NewKey(table.Text(item, table.PK), table.Text(item, table.SK))))
	}
	if len(writes) > 0 {
		if _, err := st.engine.BatchWrite(t.Context(), writes); err != nil {
			t.Fatalf("reset the table: %v", err)
		}
	}
	return stageOn(t, st.engine)
}

// setting plays a setup by its name, once.
func settings(t *testing.T, cases []crashCase) map[string]*stage {
	t.Helper()
	made := map[string]*stage{}
	for _, c := range cases {
		if made[c.setup] == nil {
			st := newStage(t)
			c.setUp(&scene{t: t, store: st.store, world: newWorld()})
			st.keep()
			made[c.setup] = st
		}
	}
	return made
}

// agrees compares the store with models until one fits.
func (st *stage) agrees(possible ...*scene) string {
	st.t.Helper()
	var out strings.Builder
	for _, s := range possible {
		r := &reader{w: s.world, store: st.store}
		d := r.sessions(st.t.Context())
		if d == "" {
			return ""
		}
		fmt.Fprintln(&out, d)
	}
	return out.String()
}

// swept sweeps several times, each time a while later, and lists the keys that are
// left, except those of shared state.
func swept(ctx context.Context, t rapid.TB, engine table.Engine) []string {
	t.Helper()
	for n := range 4 { // a log waits for those that were forked from it
		sweeper := stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithClock(func() time.Time {
			return time.Now().Add(time.Duration(n+2) * sweep.Grace)
		}))
		if _, err := sweeper.Lifecycle.Sweep(ctx); err != nil {
			t.Fatalf("sweep: %v", err)
		}
	}
	var left []string
	for _, item := range storetest.Items(t, engine) { //nolint:contextcheck // what is left is read to the end
		pk := table.Text(item, table.PK)
		if !strings.HasPrefix(pk, "U#") && !strings.HasPrefix(pk, "A#") && !strings.HasPrefix(pk, "UP#") {
			left = append(left, name(item))
		}
	}
	return left
}

func name(item table.Item) string {
	return table.Text(item, table.PK) + " " + table.Text(item, table.SK)
}
