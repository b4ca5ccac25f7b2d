// Package memory implements the storage contract in memory with DynamoDB's
// behaviour: its rules for values, conditions and changes, its limits, its pages
// and its charges. The differential property of package tabletest checks that.
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

// Engine is a table in memory. It copies what it takes and returns.
type Engine struct {
	schema table.Schema
	now    func() time.Time

	feed func(before, after table.Item)

	mu      sync.Mutex
	current state
	stale   *state    // what eventually consistent reads and indexes show; nil for the current state
	pending []written // the writes that stale is missing, oldest first
	lag     int       // the number of writes that stale may miss; allWrites while frozen
	tokens  map[string]used
	expiry  []expiry // of the tokens, oldest first
}

var _ table.Engine = (*Engine)(nil)

// Option configures an engine.
type Option func(*Engine)

// Clock sets the clock by which tokens expire; the default is time.Now.
func Clock(now func() time.Time) Option { return func(e *Engine) { e.now = now } }

// Lag makes eventually consistent reads and indexes miss the last writes.
func Lag(writes int) Option { return func(e *Engine) { e.lag = writes } }

// Feed calls changed for each change of an item, in the order of the writes, like
// the table's stream: with the item before, nil if it did not exist, and after, nil
// if it was deleted. A write that leaves an item unchanged is not reported. The
// function is called while the table is locked; it must not call the table or
// change the items.
func Feed(changed func(before, after table.Item)) Option { return func(e *Engine) { e.feed = changed } }

// New returns an empty table.
func New(schema table.Schema, options ...Option) *Engine {
	e := &Engine{schema: schema, now: time.Now, tokens: map[string]used{}, current: newState(schema)}
	for _, option := range options {
		option(e)
	}
	e.advance()
	return e
}

// Clone returns a separate table with the same items. It has no tokens, no lag and
// no feed.
func (e *Engine) Clone() *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &Engine{schema: e.schema, now: e.now, tokens: map[string]used{}, current: e.current.clone()}
}

const allWrites = int(^uint(0) >> 1)

// Freeze makes eventually consistent reads and indexes show the current state until
// CatchUp.
func (e *Engine) Freeze() { e.setLag(allWrites) }

// CatchUp makes all writes visible to all reads, later writes included.
func (e *Engine) CatchUp() { e.setLag(0) }

func (e *Engine) setLag(writes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lag = writes
	e.advance()
}

// written is the result of a write; item is nil if it was deleted.
type written struct {
	key  table.Key
	item table.Item
}

// store makes a write visible to consistent reads, and to others once the lag
// allows.
func (e *Engine) store(w written) {
	before := e.current.items[w.key]
	e.current.put(w)
	if e.stale != nil {
		e.pending = append(e.pending, w)
		e.advance()
	}
	if e.feed != nil && !same(before, w.item) {
		e.feed(before, w.item)
	}
}

func same(a, b table.Item) bool { return (a == nil) == (b == nil) && value.EqualItems(a, b) }

// advance makes the writes that exceed the lag visible to all reads.
func (e *Engine) advance() {
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

func (e *Engine) visible(consistent bool) *state {
	if consistent || e.stale == nil {
		return &e.current
	}
	return e.stale
}

// Get reads one item.
func (e *Engine) Get(ctx context.Context, k table.Key, r table.Reading) (table.Item, table.Units, error) {
	if err := firstError(ctx, table.ValidateKey(k), table.ValidateReading(r)); err != nil {
		return nil, table.Units{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	item := e.visible(r.Consistent).items[k]
	return project(item, r.Members), table.Units{Read: table.ReadUnits(value.Size(item), r.Consistent)}, nil
}

// BatchGet reads many items.
func (e *Engine) BatchGet(ctx context.Context, keys []table.Key, r table.Reading) ([]table.Item, table.Units, error) {
	for _, k := range keys {
		if err := table.ValidateKey(k); err != nil {
			return nil, table.Units{}, err
		}
	}
	if err := firstError(ctx, table.ValidateReading(r)); err != nil {
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
		item := e.visible(r.Consistent).items[k]
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

// firstError returns why a request must not be carried out: the context's end or the
// first refusal.
func firstError(ctx context.Context, refusals ...error) error {
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

// Items returns copies of all items, as a consistent read finds them, in the order
// of their keys.
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
