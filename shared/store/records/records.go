// Package records reads and writes typed items of a table. It carries each write
// through until its outcome is known, and has the one back-off of the store.
package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/table"
)

// Table is a table of records. It is safe for concurrent use.
//
// Errors wrap those of package table. What the table throttled beyond the engine's
// own tries also wraps a fault.Busy, so that the caller is asked to come again.
type Table struct {
	engine table.Engine
	random func() uuid.UUID
}

// New is a table over an engine; random makes the tokens of transactions.
func New(engine table.Engine, random func() uuid.UUID) *Table {
	return &Table{engine: engine, random: random}
}

// Get reads one record, strongly consistent, and says whether it is there. A record
// of another form is table.ErrUnreadable.
func (t *Table) Get(ctx context.Context, k table.Key, into any) (found bool, err error) {
	item, err := t.GetItem(ctx, k)
	if err != nil || item == nil {
		return false, err
	}
	return true, decode(k, item, into)
}

// GetItem reads an item as it is stored, strongly consistent; nil for none.
func (t *Table) GetItem(ctx context.Context, k table.Key) (table.Item, error) {
	return t.read(ctx, k, table.Reading{Consistent: true})
}

// GetEventually reads an item that may be a moment old, for half the units; nil for
// none.
func (t *Table) GetEventually(ctx context.Context, k table.Key) (table.Item, error) {
	return t.read(ctx, k, table.Reading{})
}

func (t *Table) read(ctx context.Context, k table.Key, r table.Reading) (table.Item, error) {
	item, _, err := t.engine.Get(ctx, k, r)
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", k.PK, k.SK, asBusy(err))
	}
	return item, nil
}

func decode(k table.Key, item table.Item, into any) error {
	if err := table.Decode(item, into); err != nil {
		return fmt.Errorf("%s %s: %w", k.PK, k.SK, err)
	}
	return nil
}

// BatchGet reads items by their keys, in no order and each once; those that are not
// there are left out.
func (t *Table) BatchGet(ctx context.Context, keys []table.Key, consistent bool) ([]table.Item, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	items, _, err := t.engine.BatchGet(ctx, keys, table.Reading{Consistent: consistent})
	if err != nil {
		return nil, fmt.Errorf("read a batch: %w", asBusy(err))
	}
	return items, nil
}

// Query reads one page.
func (t *Table) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := t.engine.Query(ctx, q)
	if err != nil {
		return table.Page{}, fmt.Errorf("query %s: %w", q.Partition, asBusy(err))
	}
	return page, nil
}

// Pages hands over a query's pages until it ends or visit returns false.
func (t *Table) Pages(ctx context.Context, q table.Query, visit func(items []table.Item) (more bool, err error)) error {
	for {
		page, err := t.Query(ctx, q)
		if err != nil {
			return err
		}
		if more, err := visit(page.Items); err != nil || !more {
			return err
		}
		if q.After = page.Next; q.After == nil {
			return nil
		}
	}
}

// BatchWrite carries out puts and deletes without conditions, in no order and not as
// one. Repeating it is safe.
func (t *Table) BatchWrite(ctx context.Context, writes []table.Write) error {
	if len(writes) == 0 {
		return nil
	}
	if _, err := t.engine.BatchWrite(ctx, writes); err != nil {
		return fmt.Errorf("write a batch: %w", asBusy(err))
	}
	return nil
}

// DeleteItems deletes items, of which it needs the keys alone.
func (t *Table) DeleteItems(ctx context.Context, items []table.Item) error {
	writes := make([]table.Write, 0, len(items))
	for _, item := range items {
		k, err := table.KeyOf(item)
		if err != nil {
			return err
		}
		writes = append(writes, table.Delete(k))
	}
	return t.BatchWrite(ctx, writes)
}

// DeleteFound deletes everything that a query finds; the query has the keys among
// its members.
func (t *Table) DeleteFound(ctx context.Context, q table.Query) error {
	return t.Pages(ctx, q, func(items []table.Item) (bool, error) {
		return true, t.DeleteItems(ctx, items)
	})
}

// asBusy adds to an error of the engine's what the caller is told.
func asBusy(err error) error {
	if errors.Is(err, table.ErrThrottled) {
		return fmt.Errorf("%w: %w", busy("the table is busy; try again"), err)
	}
	return err
}

// busy asks a caller to come again in a second.
func busy(format string, args ...any) *fault.Error {
	f := fault.New(fault.Busy, format, args...)
	f.RetryAfter = retryAfter
	return f
}
