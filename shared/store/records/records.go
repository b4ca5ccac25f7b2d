// Package records reads and writes typed items of a table. It repeats a write until
// its outcome is known, and holds the store's only back-off.
package records

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/table"
)

// Table is a table of records. It is safe for concurrent use.
//
// Errors wrap those of package table. Throttling that outlasts the engine's own
// attempts also wraps a fault.Busy, which asks the caller to try again.
type Table struct {
	engine table.Engine
	random func() uuid.UUID
}

// New returns a table over an engine; random makes the tokens of transactions.
func New(engine table.Engine, random func() uuid.UUID) *Table {
	return &Table{engine: engine, random: random}
}

// Get reads one record with strong consistency and reports whether it exists. A
// record of another form returns table.ErrUnreadable.
func (t *Table) Get(ctx context.Context, k table.Key, into any) (found bool, err error) {
	item, err := t.GetItem(ctx, k)
	if err != nil || item == nil {
		return false, err
	}
	return true, decode(k, item, into)
}

// GetItem reads an item as stored, with strong consistency; nil if it does not
// exist.
func (t *Table) GetItem(ctx context.Context, k table.Key) (table.Item, error) {
	return t.read(ctx, k, table.Reading{Consistent: true})
}

// GetEventually reads an item with eventual consistency, for half the units; nil if
// it does not exist.
func (t *Table) GetEventually(ctx context.Context, k table.Key) (table.Item, error) {
	return t.read(ctx, k, table.Reading{})
}

func (t *Table) read(ctx context.Context, k table.Key, r table.Reading) (table.Item, error) {
	item, _, err := t.engine.Get(ctx, k, r)
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", k.PK, k.SK, unread(err))
	}
	return item, nil
}

func decode(k table.Key, item table.Item, into any) error {
	if err := table.Decode(item, into); err != nil {
		return fmt.Errorf("%s %s: %w", k.PK, k.SK, err)
	}
	return nil
}

// BatchGet reads items by their keys, without duplicates and in no particular
// order. Missing items are left out.
func (t *Table) BatchGet(ctx context.Context, keys []table.Key, consistent bool) ([]table.Item, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	items, _, err := t.engine.BatchGet(ctx, keys, table.Reading{Consistent: consistent})
	if err != nil {
		return nil, fmt.Errorf("read a batch: %w", unread(err))
	}
	return items, nil
}

// BatchGetByKey is BatchGet with the items by their keys.
func (t *Table) BatchGetByKey(ctx context.Context, keys []table.Key, consistent bool) (map[table.Key]table.Item, error) {
	items, err := t.BatchGet(ctx, keys, consistent)
	out := make(map[table.Key]table.Item, len(items))
	for _, item := range items {
		out[KeyOf(item)] = item
	}
	return out, err
}

// BatchGetFixed reads items that never change, by their keys, which may repeat: from a
// replica at half the price, and with strong consistency those that the replica lacks.
func (t *Table) BatchGetFixed(ctx context.Context, keys []table.Key) (map[table.Key]table.Item, error) {
	out := make(map[table.Key]table.Item, len(keys))
	for _, consistent := range []bool{false, true} {
		var missing []table.Key
		asked := map[table.Key]bool{}
		for _, k := range keys {
			if out[k] == nil && !asked[k] {
				asked[k], missing = true, append(missing, k)
			}
		}
		found, err := t.BatchGetByKey(ctx, missing, consistent)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, found)
	}
	return out, nil
}

// Query reads one page of a query.
func (t *Table) Query(ctx context.Context, q table.Query) (table.Page, error) {
	page, err := t.engine.Query(ctx, q)
	if err != nil {
		return table.Page{}, fmt.Errorf("query %s: %w", q.Partition, unread(err))
	}
	return page, nil
}

// Pages calls visit with each page of a query until the query ends or visit returns
// false.
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

// BatchWrite carries out unconditional puts and deletes, not atomically and in no
// particular order. It is safe to repeat.
func (t *Table) BatchWrite(ctx context.Context, writes []table.Write) error {
	if len(writes) == 0 {
		return nil
	}
	if err := late(ctx); err != nil {
		return fmt.Errorf("write a batch: %w", err)
	}
	if _, err := t.engine.BatchWrite(ctx, writes); err != nil {
		return fmt.Errorf("write a batch: %w", asBusy(err))
	}
	return nil
}

// DeleteItems deletes items; only their keys are used.
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

// DeleteFound deletes every item that a query finds; the query must read the keys.
func (t *Table) DeleteFound(ctx context.Context, q table.Query) error {
	return t.Pages(ctx, q, func(items []table.Item) (bool, error) {
		return true, t.DeleteItems(ctx, items)
	})
}

// asBusy adds a fault.Busy to a throttling error of the engine.
func asBusy(err error) error {
	if errors.Is(err, table.ErrThrottled) {
		return fmt.Errorf("%w: %w", busy("the table is busy; try again"), err)
	}
	return err
}

// unread is the error of what changed nothing: asBusy, and also a fault.Busy if the caller's time is over.
func unread(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", busy("the table answers too slowly; try again"), err)
	}
	return asBusy(err)
}

// busy returns a fault.Busy with a Retry-After of one second.
func busy(format string, args ...any) *fault.Error {
	f := fault.New(fault.Busy, format, args...)
	f.RetryAfter = retryAfter
	return f
}
