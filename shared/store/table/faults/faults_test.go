package faults_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/faults"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

type record struct{ PK, SK string }

func TestWithoutFaults(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, func(*testing.T) table.Engine { return faults.New(memory.New(tabletest.Schema()), nil) })
}

func TestWrites(t *testing.T) {
	t.Parallel()
	put := table.Put(record{"p", "s"})
	kinds := map[string]func(context.Context, table.Engine) error{
		"a write": func(ctx context.Context, e table.Engine) error { _, err := e.Write(ctx, put); return err },
		"a transaction": func(ctx context.Context, e table.Engine) error {
			_, err := e.Transact(ctx, table.Transaction{Writes: []table.Write{put}})
			return err
		},
		"a batch": func(ctx context.Context, e table.Engine) error {
			_, err := e.BatchWrite(ctx, []table.Write{put})
			return err
		},
	}
	for name, write := range kinds {
		for _, c := range []struct {
			fault  faults.Fault
			want   error
			exists bool
		}{
			{faults.None, nil, true},
			{faults.Throttle, table.ErrThrottled, false},
			{faults.Conflict, table.ErrConflict, false},
			{faults.Cut, table.ErrUndecided, false},
			{faults.Lose, table.ErrUndecided, true},
		} {
			below := memory.New(tabletest.Schema())
			e := faults.New(below, faults.Schedule{1: c.fault})
			if _, _, err := e.Get(t.Context(), put.Key, table.Reading{}); err != nil {
				t.Fatal(err)
			}
			if err := write(t.Context(), e); !errors.Is(err, c.want) {
				t.Errorf("%s under fault %d: %v", name, c.fault, err)
			}
			item, _, err := below.Get(t.Context(), put.Key, table.Reading{Consistent: true})
			if err != nil || (item != nil) != c.exists || e.Calls() != 2 {
				t.Errorf("%s under fault %d left %v after %d calls, %v", name, c.fault, item, e.Calls(), err)
			}
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	below := memory.New(tabletest.Schema())
	below.Freeze()
	put := table.Put(record{"p", "s"})
	if _, err := below.Write(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	consistent := table.Reading{Consistent: true}
	kinds := map[string]func(table.Engine) (int, error){
		"get": func(e table.Engine) (int, error) {
			item, _, err := e.Get(t.Context(), put.Key, consistent)
			return min(len(item), 1), err
		},
		"batch": func(e table.Engine) (int, error) {
			items, _, err := e.BatchGet(t.Context(), []table.Key{put.Key}, consistent)
			return len(items), err
		},
		"query": func(e table.Engine) (int, error) {
			page, err := e.Query(t.Context(), table.Query{Partition: "p", Reading: consistent})
			return len(page.Items), err
		},
	}
	for name, read := range kinds {
		for _, c := range []struct {
			fault faults.Fault
			want  error
			found int
		}{
			{faults.None, nil, 1},
			{faults.Stale, nil, 0},
			{faults.Throttle, table.ErrThrottled, 0},
			{faults.Cut, table.ErrUndecided, 0},
			{faults.Lose, table.ErrUndecided, 0},
		} {
			found, err := read(faults.New(below, faults.Schedule{0: c.fault}))
			if !errors.Is(err, c.want) || found != c.found {
				t.Errorf("%s under fault %d found %d, %v", name, c.fault, found, err)
			}
		}
	}
}
