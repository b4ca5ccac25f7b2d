package memory_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, func(*testing.T) table.Engine { return memory.New(tabletest.Schema()) })
}

type record struct {
	PK, SK   string
	GPK, GSK string
}

func TestLag(t *testing.T) {
	t.Parallel()
	seen := func(t *testing.T, e *memory.Engine, sk string) (consistent, eventual, index bool) {
		t.Helper()
		now, _, err := e.Get(t.Context(), table.Key{PK: "p", SK: sk}, table.Reading{Consistent: true})
		before, _, also := e.Get(t.Context(), table.Key{PK: "p", SK: sk}, table.Reading{})
		page, third := e.Query(t.Context(), table.Query{Index: tabletest.Index, Partition: "g", From: sk, To: sk})
		if err := errors.Join(err, also, third); err != nil {
			t.Fatal(err)
		}
		return now != nil, before != nil, len(page.Items) == 1
	}
	put := func(t *testing.T, e *memory.Engine, sk string) {
		t.Helper()
		if _, err := e.Write(t.Context(), table.Put(record{"p", sk, "g", sk})); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("shows older states to eventually consistent reads and the index", func(t *testing.T) {
		t.Parallel()
		e := memory.New(tabletest.Schema(), memory.Lag(1))
		put(t, e, "1")
		put(t, e, "2")
		if a, b, c := seen(t, e, "1"); !a || !b || !c {
			t.Errorf("the write before: %v %v %v", a, b, c)
		}
		if a, b, c := seen(t, e, "2"); !a || b || c {
			t.Errorf("the last write: %v %v %v", a, b, c)
		}
	})
	t.Run("lasts while frozen", func(t *testing.T) {
		t.Parallel()
		e := memory.New(tabletest.Schema())
		e.Freeze()
		for _, sk := range []string{"1", "2", "3"} {
			put(t, e, sk)
		}
		if a, b, c := seen(t, e, "1"); !a || b || c {
			t.Errorf("frozen: %v %v %v", a, b, c)
		}
		e.CatchUp()
		if a, b, c := seen(t, e, "3"); !a || !b || !c {
			t.Errorf("caught up: %v %v %v", a, b, c)
		}
	})
}

func TestTokensExpire(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	e := memory.New(tabletest.Schema(), memory.Clock(func() time.Time { return now }))
	once := table.Transaction{Token: "t", Writes: []table.Write{table.Put(record{"p", "s", "g", "s"}, table.ItemNotExists())}}
	for _, later := range []time.Duration{0, 10*time.Minute - 1} {
		now = time.Unix(0, 0).Add(later)
		if _, err := e.Transact(t.Context(), once); err != nil {
			t.Fatalf("after %s: %v", later, err)
		}
	}
	now = now.Add(1)
	if _, err := e.Transact(t.Context(), once); !errors.Is(err, table.ErrConditionFailed) {
		t.Errorf("after ten minutes: %v", err)
	}
}
