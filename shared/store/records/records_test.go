package records_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/faults"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/store/table/memory"
)

type thing struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	Name string `dynamodbav:"name"`
	N    int64  `dynamodbav:"n,omitempty"`
}

func key() table.Key { return table.NewKey("p", "s") }

func named(name string) thing { return thing{PK: "p", SK: "s", Name: name} }

// faulty returns a table with faults by schedule, and the same table without
// faults.
func faulty(schedule faults.Schedule) (*records.Table, *records.Table) {
	engine := memory.New(store.Schema())
	return records.New(faults.New(engine, schedule), uuid.New), records.New(engine, uuid.New)
}

// TestWrite_outcomes carries out writes under faults. Each must report its true
// outcome, and the table must hold what was reported.
func TestWrite_outcomes(t *testing.T) {
	t.Parallel()
	absent := table.ItemNotExists()
	name, n := table.Path{"name"}, table.Path{"n"}
	for _, c := range []struct {
		name     string
		before   any // the item stored before the write
		schedule faults.Schedule
		write    table.Write
		want     error // nil for success
		left     *thing
	}{
		{
			"a put whose answer was lost recognises its own item", nil,
			faults.Schedule{0: faults.Lose},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"a put that never arrived is sent again", nil,
			faults.Schedule{0: faults.Cut, 1: faults.Cut},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"a put whose answer was lost fails if another item is stored", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Put(named("a"), absent), table.ErrConditionFailed, &thing{"p", "s", "b", 0},
		},
		{
			"a put whose answer was lost recognises its own item after a throttled retry", nil,
			faults.Schedule{0: faults.Lose, 1: faults.Throttle, 2: faults.Conflict},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"an update whose answer was lost recognises its own result", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Update(key(), []table.Change{table.Set(name, "a"), table.Remove(n)}, table.Equal(name, "b")), nil, &thing{"p", "s", "a", 0},
		},
		{
			"a refused update does not take another's result for its own", named("c"),
			faults.Schedule{0: faults.Cut},
			table.Update(key(), []table.Change{table.Set(name, "a")}, table.Equal(name, "b")), table.ErrConditionFailed, &thing{"p", "s", "c", 0},
		},
		{
			"a deletion whose answer was lost succeeds", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Delete(key(), table.ItemExists()), nil, nil,
		},
		{
			"a conditional deletion of a missing item is refused", nil, nil,
			table.Delete(key(), table.ItemExists()), table.ErrConditionFailed, nil,
		},
		{
			"an addition whose answer was lost is not repeated", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Update(key(), []table.Change{table.Add(n, 1)}), table.ErrUndecided, &thing{"p", "s", "b", 1},
		},
		{
			"retries after a conflicting transaction", nil,
			faults.Schedule{0: faults.Conflict, 1: faults.Conflict},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"returns Busy for a throttled write", nil,
			faults.Schedule{0: faults.Throttle},
			table.Put(named("a"), absent), fault.Of(fault.Busy), nil,
		},
		{
			"an outage leaves a write undecided", nil,
			faults.Schedule{0: faults.Cut, 1: faults.Cut, 2: faults.Cut, 3: faults.Cut, 4: faults.Cut, 5: faults.Cut, 6: faults.Cut},
			table.Put(named("a"), absent), table.ErrUndecided, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				under, plain := faulty(c.schedule)
				if c.before != nil {
					if err := plain.Put(t.Context(), c.before); err != nil {
						t.Fatal(err)
					}
				}
				if err := under.Write(t.Context(), c.write); !errors.Is(err, c.want) {
					t.Errorf("the write ended with %v, want %v", err, c.want)
				}
				checkLeft(t, plain, c.left)
			})
		})
	}
}

// TestUndecided_to_the_end checks that a write whose answer was lost is never
// reported as not done, however its retries are refused.
func TestUndecided_to_the_end(t *testing.T) {
	t.Parallel()
	put, busy := table.Put(named("a"), table.ItemNotExists()), fault.Of(fault.Busy)
	for _, refusal := range []faults.Fault{faults.Conflict, faults.Throttle} {
		for what, write := range map[string]func(context.Context, *records.Table) error{
			"write":       func(ctx context.Context, in *records.Table) error { return in.Write(ctx, put) },
			"transaction": func(ctx context.Context, in *records.Table) error { return in.Transact(ctx, put) },
		} {
			synctest.Test(t, func(t *testing.T) {
				schedule := faults.Schedule{0: faults.Lose}
				for call := 1; call < 1000; call++ {
					schedule[call] = refusal
				}
				under, plain := faulty(schedule)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := write(ctx, under)
				if !errors.Is(err, table.ErrUndecided) || errors.Is(err, table.ErrConditionFailed) || errors.Is(err, busy) {
					t.Errorf("the %s ended with %v", what, err)
				}
				if ctx.Err() != nil {
					t.Errorf("the %s took all the time there was", what)
				}
				checkLeft(t, plain, &thing{"p", "s", "a", 0})
			})
		}
	}
}

func checkLeft(t *testing.T, in *records.Table, want *thing) {
	t.Helper()
	var got thing
	found, err := in.Get(t.Context(), key(), &got)
	if err != nil {
		t.Fatal(err)
	}
	if want == nil {
		if found {
			t.Errorf("the table has %+v, want nothing", got)
		}
		return
	}
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
}

func TestTransact_outcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		schedule faults.Schedule
		want     error
		done     bool
	}{
		{"succeeds after a lost answer", faults.Schedule{0: faults.Lose}, nil, true},
		{"succeeds after a lost answer and a throttled retry", faults.Schedule{0: faults.Lose, 1: faults.Throttle}, nil, true},
		{"stays undecided after a lost answer and conflicts", faults.Schedule{0: faults.Lose, 1: faults.Conflict, 2: faults.Conflict}, nil, true},
		{"repeats a throttled transaction", faults.Schedule{0: faults.Throttle, 1: faults.Throttle}, nil, true},
		{"returns a failed condition for a conflict", faults.Schedule{0: faults.Conflict}, table.ErrConditionFailed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				under, plain := faulty(c.schedule)
				err := under.Transact(t.Context(),
					table.Put(named("a"), table.ItemNotExists()),
					table.Put(thing{PK: "p", SK: "other"}, table.ItemNotExists()))
				if !errors.Is(err, c.want) {
					t.Errorf("the transaction ended with %v, want %v", err, c.want)
				}
				var want *thing
				if c.done {
					want = &thing{"p", "s", "a", 0}
				}
				checkLeft(t, plain, want)
			})
		})
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	_, plain := faulty(nil)
	if err := plain.Put(t.Context(), named("b")); err != nil {
		t.Fatal(err)
	}
	err := plain.Put(t.Context(), named("a"), table.ItemNotExists())
	var stored thing
	if found, decodeErr := records.Found(err, &stored); !found || decodeErr != nil || stored.Name != "b" {
		t.Errorf("found %v %+v, %v", found, stored, decodeErr)
	}
	if found, decodeErr := records.Found(nil, &stored); found || decodeErr != nil {
		t.Errorf("success found %v, %v", found, decodeErr)
	}
}

// TestContended checks that work that loses races is repeated, and that the caller
// gets Busy when time runs out.
func TestContended(t *testing.T) {
	t.Parallel()
	errOther := errors.New("other")
	race := fmt.Errorf("%w: somebody was first", table.ErrConditionFailed)
	t.Run("repeats work that loses races", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			for _, lost := range []error{race, retry.ErrAgain} {
				n := 0
				got, err := records.ContendedValue(t.Context(), func() (string, error) {
					if n++; n < 30 {
						return "", lost
					}
					return "done", nil
				})
				if err != nil || got != "done" || n != 30 {
					t.Errorf("%q, %v after %d tries", got, err, n)
				}
			}
		})
	})
	t.Run("returns other errors at once", func(t *testing.T) {
		t.Parallel()
		n := 0
		if err := records.Contended(t.Context(), func() error { n++; return errOther }); !errors.Is(err, errOther) || n != 1 {
			t.Errorf("%v after %d tries", err, n)
		}
	})
	t.Run("nested calls run out of time only once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			outer := 0
			err := records.Contended(ctx, func() error {
				outer++
				return records.Settled(ctx, func() error { return race })
			})
			if !errors.Is(err, fault.Of(fault.Busy)) || errors.Is(err, table.ErrConditionFailed) || outer != 1 {
				t.Errorf("%v after %d tries of the outer", err, outer)
			}
		})
	})
}

// TestPages reads a partition page by page and deletes the items of a query.
func TestPages(t *testing.T) {
	t.Parallel()
	_, plain := faulty(nil)
	const items = 23
	var writes []table.Write
	for i := range items {
		writes = append(writes, table.Put(thing{PK: "many", SK: fmt.Sprintf("%03d", i)}))
	}
	if err := plain.BatchWrite(t.Context(), writes); err != nil {
		t.Fatal(err)
	}
	q := table.Query{Partition: "many", Limit: 5, Reading: table.Reading{Consistent: true}}
	pages, seen := 0, 0
	err := plain.Pages(t.Context(), q, func(items []table.Item) (bool, error) {
		pages++
		seen += len(items)
		return true, nil
	})
	if err != nil || seen != items || pages < 5 {
		t.Errorf("%d items on %d pages, %v", seen, pages, err)
	}
	if err := plain.DeleteFound(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if page, err := plain.Query(t.Context(), q); err != nil || len(page.Items) != 0 {
		t.Errorf("%d items are left, %v", len(page.Items), err)
	}
}

// A write whose caller's time is over is not sent, and refused like a read.
func TestWrite_out_of_time(t *testing.T) {
	t.Parallel()
	engine := faults.New(memory.New(store.Schema()), nil)
	under := records.New(engine, uuid.New)
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, write := range map[string]func() error{
		"write":       func() error { return under.Put(ctx, named("a")) },
		"transaction": func() error { return under.Transact(ctx, table.Put(named("a"))) },
		"batch":       func() error { return under.BatchWrite(ctx, []table.Write{table.Put(named("a"))}) },
	} {
		if err := write(); !errors.Is(err, fault.Of(fault.Busy)) || engine.Calls() > 0 {
			t.Errorf("%s: %v after %d requests, want a refusal and none", name, err, engine.Calls())
		}
	}
}

// What a replica lacks is read again with strong consistency, and nothing else.
func TestBatchGetFixed(t *testing.T) {
	t.Parallel()
	engine := memory.New(store.Schema())
	here, late, none := table.NewKey("p", "here"), table.NewKey("p", "late"), table.NewKey("p", "none")
	for _, k := range []table.Key{here, late} {
		if err := records.New(engine, uuid.New).Put(t.Context(), thing{PK: k.PK, SK: k.SK}); err != nil {
			t.Fatal(err)
		}
	}
	var asked [][]table.Key
	lagging := hooks.New(engine, hooks.Hooks{
		Before: func(_ context.Context, c hooks.Call) error { asked = append(asked, c.Keys); return nil },
		Items: func(c hooks.Call, items []table.Item) []table.Item {
			return slices.DeleteFunc(items, func(item table.Item) bool { return !c.Consistent && records.KeyOf(item) == late })
		},
	})
	got, err := records.New(lagging, uuid.New).BatchGetFixed(t.Context(), []table.Key{here, late, none, late})
	if err != nil || len(got) != 2 || got[here] == nil || got[late] == nil {
		t.Errorf("%v, %v", got, err)
	}
	if diff := cmp.Diff([][]table.Key{{here, late, none}, {late, none}}, asked); diff != "" {
		t.Errorf("keys asked for (-want +got):\n%s", diff)
	}
}

// A read that outlasts its caller's time is a refusal that asks to try again.
func TestRead_out_of_time(t *testing.T) {
	t.Parallel()
	engine := hooks.New(memory.New(store.Schema()), hooks.Hooks{Before: func(ctx context.Context, _ hooks.Call) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	under := records.New(engine, uuid.New)
	for name, read := range map[string]func(context.Context) error{
		"get":       func(ctx context.Context) error { _, err := under.GetItem(ctx, key()); return err },
		"query":     func(ctx context.Context) error { _, err := under.Query(ctx, records.Partition("p")); return err },
		"batch get": func(ctx context.Context) error { _, err := under.BatchGet(ctx, []table.Key{key()}, true); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		err := read(ctx)
		cancel()
		var refusal *fault.Error
		if !errors.As(err, &refusal) || refusal.Kind != fault.Busy || refusal.RetryAfter == 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want a refusal with a time to wait", name, err)
		}
	}
}
