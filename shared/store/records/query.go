package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/store/table"
)

// Parallel is the maximum number of concurrent requests of one call.
const Parallel = 16

// failuresReported is how many of several failures an error lists individually.
const failuresReported = 5

// Prefix selects the items of a partition whose sort keys begin with a prefix.
func Prefix(pk, prefix string, consistent bool) table.Query {
	return Range(pk, prefix, table.PrefixEnd(prefix), consistent)
}

// Range selects the items of a partition between two sort keys, both inclusive.
func Range(pk, from, to string, consistent bool) table.Query {
	return table.Query{Partition: pk, From: from, To: to, Reading: table.Reading{Consistent: consistent}}
}

// Partition selects everything in a partition, strongly consistent.
func Partition(pk string) table.Query {
	return table.Query{Partition: pk, Reading: table.Reading{Consistent: true}}
}

// KeysOnly makes a query read only the keys and the members in more.
func KeysOnly(q table.Query, more ...string) table.Query {
	q.Members = append([]string{table.PK, table.SK}, more...)
	return q
}

// Count returns the number of items of a partition whose sort keys begin with a
// prefix.
func (t *Table) Count(ctx context.Context, pk, prefix string) (int, error) {
	n := 0
	err := t.Pages(ctx, KeysOnly(Prefix(pk, prefix, true)), func(items []table.Item) (bool, error) {
		n += len(items)
		return true, nil
	})
	return n, err
}

// EachItem calls do for each item that a query finds and continues after failures.
// The returned error lists some of the failures of each page.
func (t *Table) EachItem(ctx context.Context, q table.Query, do func(table.Item) error) error {
	var failures []error
	err := t.Pages(ctx, q, func(items []table.Item) (bool, error) {
		if err := EachOf(ctx, items, do); err != nil && len(failures) < failuresReported {
			failures = append(failures, err)
		}
		return true, ctx.Err()
	})
	return errors.Join(append(failures, err)...)
}

// EachOf calls do for each element and continues after failures until the context
// ends. The returned error lists some of the failures.
func EachOf[T any](ctx context.Context, all []T, do func(T) error) error {
	var failures []error
	failed := 0
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failures, err)...)
		}
		if err := do(one); err != nil {
			if failed++; len(failures) < failuresReported {
				failures = append(failures, err)
			}
		}
	}
	if failed > len(failures) {
		failures = append(failures, fmt.Errorf("and %d more", failed-len(failures)))
	}
	return errors.Join(failures...)
}

// Ignoring returns nil for an error that is what, and the error otherwise.
func Ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}
