package records_test

import (
	"context"
	"errors"
	"fmt"
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

// faulty is a table whose calls go as a schedule says, and the same table without faults.
func faulty(schedule faults.Schedule) (*records.Table, *records.Table) {
	engine := memory.New(store.Schema())
	return records.New(faults.New(engine, schedule), uuid.New), records.New(engine, uuid.New)
}

// TestWrite_outcomes carries writes out under faults: each tells what came of it, and
// what is in the table is what it tells.
func TestWrite_outcomes(t *testing.T) {
	t.Parallel()
	absent := table.ItemNotExists()
	name, n := table.At("name"), table.At("n")
	for _, c := range []struct {
		name     string
		before   any // what is stored first
		schedule faults.Schedule
		write    table.Write
		want     error // nil for success
		left     *thing
	}{
		{
			"a put whose answer is lost meets itself", nil,
			faults.Schedule{0: faults.Lose},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"a put that never arrives is sent again", nil,
			faults.Schedule{0: faults.Cut, 1: faults.Cut},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"a put whose answer is lost meets another's", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Put(named("a"), absent), table.ErrConditionFailed, &thing{"p", "s", "b", 0},
		},
		{
			"a put whose answer is lost meets itself although its repeat is throttled", nil,
			faults.Schedule{0: faults.Lose, 1: faults.Throttle, 2: faults.Conflict},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"an update whose answer is lost meets itself", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Update(key(), []table.Change{table.Set(name, "a"), table.Remove(n)}, table.Equal(name, "b")), nil, &thing{"p", "s", "a", 0},
		},
		{
			"an update that was refused is not its own", named("c"),
			faults.Schedule{0: faults.Cut},
			table.Update(key(), []table.Change{table.Set(name, "a")}, table.Equal(name, "b")), table.ErrConditionFailed, &thing{"p", "s", "c", 0},
		},
		{
			"a deletion whose answer is lost is done", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Delete(key(), table.ItemExists()), nil, nil,
		},
		{
			"a deletion of what is not there is refused", nil, nil,
			table.Delete(key(), table.ItemExists()), table.ErrConditionFailed, nil,
		},
		{
			"an addition whose answer is lost is not made twice", named("b"),
			faults.Schedule{0: faults.Lose},
			table.Update(key(), []table.Change{table.Add(n, 1)}), table.ErrUndecided, &thing{"p", "s", "b", 1},
		},
		{
			"another transaction in the way passes", nil,
			faults.Schedule{0: faults.Conflict, 1: faults.Conflict},
			table.Put(named("a"), absent), nil, &thing{"p", "s", "a", 0},
		},
		{
			"a throttled write asks the caller to come again", nil,
			faults.Schedule{0: faults.Throttle},
			table.Put(named("a"), absent), fault.Of(fault.Busy), nil,
		},
		{
			"an outage ends with a write that is undecided", nil,
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

// TestUndecided_to_the_end holds that a write whose answer was lost is never told as
// not done, however its repeats are refused.
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
		{"a lost answer is told as done", faults.Schedule{0: faults.Lose}, nil, true},
		{"so is one whose repeat is throttled", faults.Schedule{0: faults.Lose, 1: faults.Throttle}, nil, true},
		{"and one whose repeats meet another in the way", faults.Schedule{0: faults.Lose, 1: faults.Conflict, 2: faults.Conflict}, nil, true},
		{"a throttled one is repeated", faults.Schedule{0: faults.Throttle, 1: faults.Throttle}, nil, true},
		{"another one in the way is a race that was lost", faults.Schedule{0: faults.Conflict}, table.ErrConditionFailed, false},
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
	var there thing
	if found, decodeErr := records.Found(err, &there); !found || decodeErr != nil || there.Name != "b" {
		t.Errorf("found %v %+v, %v", found, there, decodeErr)
	}
	if found, decodeErr := records.Found(nil, &there); found || decodeErr != nil {
		t.Errorf("success found %v, %v", found, decodeErr)
	}
}

// TestContended holds that work is done again while it loses races, and that its
// caller is asked to come again where time runs out.
func TestContended(t *testing.T) {
	t.Parallel()
	errOther := errors.New("other")
	race := fmt.Errorf("%w: somebody was first", table.ErrConditionFailed)
	t.Run("again while races are lost", func(t *testing.T) {
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
	t.Run("other errors end it", func(t *testing.T) {
		t.Parallel()
		n := 0
		if err := records.Contended(t.Context(), func() error { n++; return errOther }); !errors.Is(err, errOther) || n != 1 {
			t.Errorf("%v after %d tries", err, n)
		}
	})
	t.Run("time runs out once, however deep", func(t *testing.T) {
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

// TestPages reads a partition page by page, and deletes what a query finds.
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
