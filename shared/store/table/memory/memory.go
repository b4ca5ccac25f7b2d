// Package memory is a table in memory that behaves as DynamoDB does: its rules for
// values, conditions and changes, its limits, its pages and what it charges. The
// differential property of package tabletest holds it to that.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// Engine is a table in memory. What it takes and returns is copied.
type Engine struct {
	schema table.Schema
	now    func() time.Time

	feed func(before, after table.Item)

	mu      sync.Mutex
	current state
	stale   *state    // what eventual reads and indexes show; nil for the current one
	pending []written // what stale misses, the oldest first
	lag     int       // how many writes it may miss; allWrites while frozen
	tokens  map[string]used
	expiry  []expiry // of the tokens, the oldest first
}

var _ table.Engine = (*Engine)(nil)

// Option changes how a table behaves.
type Option func(*Engine)

// Clock tells the time by which tokens expire; it is time.Now otherwise.
func Clock(now func() time.Time) Option { return func(e *Engine) { e.now = now } }

// Lag makes eventually consistent reads, and indexes, miss the last so many writes.
func Lag(writes int) Option { return func(e *Engine) { e.lag = writes } }

// Feed is told of each change of an item, in the order of the writes, as the table's
// stream tells it: the item before, nil for none, and after, nil for none. A write
// that leaves an item as it was is no change. It is called while the table is locked,
// must not call it, and must not change the items.
func Feed(changed func(before, after table.Item)) Option { return func(e *Engine) { e.feed = changed } }

// New makes an empty table.
func New(schema table.Schema, options ...Option) *Engine {
	e := &Engine{schema: schema, now: time.Now, tokens: map[string]used{}, current: newState(schema)}
	for _, option := range options {
		option(e)
	}
	e.settle()
	return e
}

// Clone is a table of its own that holds the same items. It remembers no tokens, has
// no lag and tells nobody of its changes.
func (e *Engine) Clone() *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &Engine{schema: e.schema, now: e.now, tokens: map[string]used{}, current: e.current.clone()}
}

const allWrites = int(^uint(0) >> 1)

// Freeze keeps eventually consistent reads and indexes as they are until CatchUp.
func (e *Engine) Freeze() { e.setLag(allWrites) }

// CatchUp shows all writes to all reads, from now on too.
func (e *Engine) CatchUp() { e.setLag(0) }

func (e *Engine) setLag(writes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lag = writes
	e.settle()
}

// written is an item as a write left it, nil where it was deleted.
type written struct {
	key  table.Key
	item table.Item
}

// store makes a write visible to consistent reads, and to others in time.
func (e *Engine) store(w written) {
	before := e.current.items[w.key]
	e.current.put(w)
	if e.stale != nil {
		e.pending = append(e.pending, w)
		e.settle()
	}
	if e.feed != nil && !same(before, w.item) {
		e.feed(before, w.item)
	}
}

func same(a, b table.Item) bool { return (a == nil) == (b == nil) && value.EqualItems(a, b) }

// settle shows to all reads what may not be missed any more.
func (e *Engine) settle() {
	if e.lag == 0 {
		e.stale, e.pending = nil, nil
		return
	}
	if e.stale == nil {
		stale := e.current.clone()
		e.stale = &stale
	}
	for len(e.pending) > e.lag {
		e.stale.put(e.pending[0])
		e.pending = e.pending[1:]
	}
}

func (e *Engine) seen(consistent bool) *state {
	if consistent || e.stale == nil {
		return &e.current
	}
	return e.stale
}

// Get reads one item.
func (e *Engine) Get(ctx context.Context, k table.Key, r table.Reading) (table.Item, table.Units, error) {
	if err := first(ctx, table.ValidateKey(k), table.ValidateReading(r)); err != nil {
		return nil, table.Units{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	item := e.seen(r.Consistent).items[k]
	return project(item, r.Members), table.Units{Read: table.ReadUnits(value.Size(item), r.Consistent)}, nil
}

// BatchGet reads many items.
func (e *Engine) BatchGet(ctx context.Context, keys []table.Key, r table.Reading) ([]table.Item, table.Units, error) {
	for _, k := range keys {
		if err := table.ValidateKey(k); err != nil {
			return nil, table.Units{}, err
		}
	}
	if err := first(ctx, table.ValidateReading(r)); err != nil {
		return nil, table.Units{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []table.Item
	var units table.Units
	asked := make(map[table.Key]bool, len(keys))
	for _, k := range keys {
		if asked[k] {
			continue
		}
		asked[k] = true
		item := e.seen(r.Consistent).items[k]
		units.Read += table.ReadUnits(value.Size(item), r.Consistent)
		if item != nil {
			found = append(found, project(item, r.Members))
		}
	}
	return found, units, nil
}

// project copies an item, or some of its members.
func project(item table.Item, members []string) table.Item {
	if item == nil || members == nil {
		return value.Clone(item)
	}
	out := table.Item{}
	for _, name := range members {
		if v, ok := item[name]; ok {
			out[name] = v
		}
	}
	return value.Clone(out)
}

// first is why a request is not carried out: its context has ended, or it is refused.
func first(ctx context.Context, refusals ...error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("nothing was sent: %w", context.Cause(ctx))
	}
	for _, err := range refusals {
		if err != nil {
			return err
		}
	}
	return nil
}

// Items are copies of all items, as a consistent reading finds them, in the order of
// their keys.
func (e *Engine) Items() []table.Item {
	e.mu.Lock()
	defer e.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(e.current.items), func(a, b table.Key) int {
		return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK))
	})
	items := make([]table.Item, len(keys))
	for i, k := range keys {
		items[i] = value.Clone(e.current.items[k])
	}
	return items
}
