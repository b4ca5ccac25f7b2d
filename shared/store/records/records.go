// Package records reads and writes typed items of a table. It repeats a write until
// its outcome is known, holds the store's only back-off, and encodes the bodies of items,
// of which it splits what is too large for one item into chunks.
package records

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table"
)

// Base is the dependencies shared by the packages of the store.
type Base struct {
	DB     *Table
	Now    func() time.Time
	Random func() uuid.UUID
	Log    *slog.Logger // for repairs left to a later request, and for unreadable items
}

// Millis returns the current time in epoch milliseconds.
func (b Base) Millis() int64 { return b.Now().UnixMilli() }

// NewLog generates the name of a log: 80 random bits. Every item of a log contains
// the name, so it is short.
func (b Base) NewLog() string {
	random := b.Random()
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[6:]))
}

// memorySize is how many values an instance remembers of a kind, of some 500 bytes each.
const memorySize = 1000

// Memory is what an instance remembers by a key. It may be lost or out of date, and no
// other instance needs it. It is safe for concurrent use.
type Memory[V any] struct {
	mu   sync.Mutex
	kept map[string]V
}

// Get returns the value of a key; ok is false if there is none.
func (m *Memory[V]) Get(key string) (v V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.kept[key]
	return v, ok
}

// Put sets a value.
func (m *Memory[V]) Put(key string, v V) { m.Change(key, func(V) V { return v }) }

// Change replaces a value, the zero one if there is none.
func (m *Memory[V]) Change(key string, to func(V) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := m.kept[key]
	if !known && (m.kept == nil || len(m.kept) >= memorySize) { // all at once: the order of use is not worth its upkeep
		m.kept = make(map[string]V)
	}
	m.kept[key] = to(v)
}

// Forget removes a value.
func (m *Memory[V]) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}

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

// failuresReported is how many of several failures an error lists individually.
const failuresReported = 5

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

// Parallel is the maximum number of concurrent requests of one call.
const Parallel = 16

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

// KeyOf returns the key of an item; a missing part is empty.
func KeyOf(item table.Item) table.Key {
	return table.NewKey(table.Text(item, table.PK), table.Text(item, table.SK))
}

// DecodeItems decodes items and leaves out those that cannot be decoded.
func DecodeItems[T any](ctx context.Context, b Base, items []table.Item) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		var one T
		if err := table.Decode(item, &one); err != nil {
			b.LeftOut(ctx, KeyOf(item), err)
			continue
		}
		out = append(out, one)
	}
	return out
}

type leftOutKey struct{}

// CountingLeftOut returns a context that counts the items that LeftOut reports, for
// callers that need every item or must report that some are missing.
func CountingLeftOut(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, leftOutKey{}, n), n
}

// LeftOut logs that a list leaves out an unreadable item. It logs the partition
// only of logs and sessions: other partition keys may contain user ids, which are
// never logged.
func (b Base) LeftOut(ctx context.Context, k table.Key, err error) {
	partition := slog.String("partition", k.PK)
	if !strings.HasPrefix(k.PK, "L#") && !strings.HasPrefix(k.PK, "S#") {
		partition = logs.Person("partition", k.PK)
		k.SK, _, _ = strings.Cut(k.SK, "#")
	}
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	if n, ok := ctx.Value(leftOutKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
	b.Log.ErrorContext(ctx, "an item cannot be read and is left out", partition, slog.String("item", k.SK), slog.Any("error", err))
}

// Change is a record of the table's stream: an item before and after a write. Old
// is nil for a new item, New for a removed one.
type Change struct {
	Old, New table.Item
}

// unread is the error of what changed nothing: asBusy, and also a fault.Busy if the caller's time is over.
func unread(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", busy("the table answers too slowly; try again"), err)
	}
	return asBusy(err)
}

// asBusy adds a fault.Busy to a throttling error of the engine.
func asBusy(err error) error {
	if errors.Is(err, table.ErrThrottled) {
		return fmt.Errorf("%w: %w", busy("the table is busy; try again"), err)
	}
	return err
}

// busy returns a fault.Busy with a Retry-After of one second.
func busy(format string, args ...any) *fault.Error {
	f := fault.New(fault.Busy, format, args...)
	f.RetryAfter = retryAfter
	return f
}

// Busy returns a fault.Busy that asks the caller to try again in a second.
func Busy(format string, args ...any) error { return busy(format, args...) }

// Ignoring returns nil for an error that is what, and the error otherwise.
func Ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// Deref returns what a pointer points to, or the zero value.
func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
