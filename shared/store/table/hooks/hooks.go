// Package hooks lets tests observe an engine's calls and interfere with them. It is no
// part of package table, since only tests link it.
package hooks

import (
	"context"

	"github.com/rethread/rethread/shared/store/table"
)

// Op names a method of an engine.
type Op string

// The methods of an engine.
const (
	Get        Op = "get"
	Write      Op = "write"
	Transact   Op = "transact"
	Query      Op = "query"
	BatchGet   Op = "batch get"
	BatchWrite Op = "batch write"
)

// Call is a call of an engine: its method and the fields that apply to it.
type Call struct {
	Op     Op
	Keys   []table.Key   // for Get and BatchGet
	Writes []table.Write // for Write, Transact and BatchWrite
	Token  string        // for Transact
	Query  table.Query   // for Query
	// Consistent is set for a consistent Get or BatchGet.
	Consistent bool
}

// Writing reports whether the call changes the table.
func (c Call) Writing() bool { return c.Op == Write || c.Op == Transact || c.Op == BatchWrite }

// Hooks run around each call; nil does nothing. They run in the caller's goroutine
// and may call the engine themselves.
type Hooks struct {
	// Before runs before a call. If it returns an error, the call returns that
	// error and is not carried out.
	Before func(ctx context.Context, c Call) error
	// After runs after a call with its result and returns the error for the caller.
	// It does not run if Before returned an error.
	After func(ctx context.Context, c Call, u table.Units, err error) error
	// Items may change the items that a read returns.
	Items func(c Call, items []table.Item) []table.Item
}

// Engine is an engine with hooks.
type Engine struct {
	of    table.Engine
	hooks Hooks
}

var _ table.Engine = (*Engine)(nil)

// New wraps an engine with hooks.
func New(of table.Engine, h Hooks) *Engine { return &Engine{of: of, hooks: h} }

func (e *Engine) around(ctx context.Context, c Call, do func() (table.Units, error)) (table.Units, error) {
	if e.hooks.Before != nil {
		if err := e.hooks.Before(ctx, c); err != nil {
			return table.Units{}, err
		}
	}
	u, err := do()
	if e.hooks.After != nil {
		err = e.hooks.After(ctx, c, u, err)
	}
	return u, err
}

func (e *Engine) items(c Call, items []table.Item) []table.Item {
	if e.hooks.Items == nil {
		return items
	}
	return e.hooks.Items(c, items)
}

// Get reads one item.
func (e *Engine) Get(ctx context.Context, k table.Key, r table.Reading) (item table.Item, u table.Units, err error) {
	c := Call{Op: Get, Keys: []table.Key{k}, Consistent: r.Consistent}
	u, err = e.around(ctx, c, func() (u table.Units, err error) {
		item, u, err = e.of.Get(ctx, k, r)
		return u, err
	})
	if item == nil || err != nil {
		return nil, u, err
	}
	if found := e.items(c, []table.Item{item}); len(found) > 0 {
		return found[0], u, nil
	}
	return nil, u, nil
}

// Write carries out one write.
func (e *Engine) Write(ctx context.Context, w table.Write) (table.Units, error) {
	return e.around(ctx, Call{Op: Write, Writes: []table.Write{w}}, func() (table.Units, error) { return e.of.Write(ctx, w) })
}

// Transact carries out writes, all or none.
func (e *Engine) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	return e.around(ctx, Call{Op: Transact, Writes: t.Writes, Token: t.Token}, func() (table.Units, error) {
		return e.of.Transact(ctx, t)
	})
}

// Query reads a page of a query.
func (e *Engine) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	c := Call{Op: Query, Query: q, Consistent: q.Consistent}
	_, err = e.around(ctx, c, func() (table.Units, error) {
		page, err = e.of.Query(ctx, q)
		return page.Units, err
	})
	if err != nil {
		return table.Page{Units: page.Units}, err
	}
	page.Items = e.items(c, page.Items)
	return page, nil
}

// BatchGet reads many items.
func (e *Engine) BatchGet(ctx context.Context, keys []table.Key, r table.Reading) (items []table.Item, u table.Units, err error) {
	c := Call{Op: BatchGet, Keys: keys, Consistent: r.Consistent}
	u, err = e.around(ctx, c, func() (u table.Units, err error) {
		items, u, err = e.of.BatchGet(ctx, keys, r)
		return u, err
	})
	if err != nil {
		return nil, u, err
	}
	return e.items(c, items), u, nil
}

// BatchWrite carries out puts and deletes.
func (e *Engine) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	return e.around(ctx, Call{Op: BatchWrite, Writes: writes}, func() (table.Units, error) { return e.of.BatchWrite(ctx, writes) })
}
