// Package faults wraps an engine and makes its calls fail by a schedule, as
// networks and tables do. It is no part of package table, since only tests link it.
package faults

import (
	"context"
	"fmt"
	"sync"

	"github.com/rethread/rethread/shared/store/table"
)

// Fault is what happens to a call.
type Fault int

// The faults.
const (
	None     Fault = iota
	Throttle       // the call is refused: ErrThrottled
	Conflict       // a write is refused: ErrConflict
	Cut            // the call never arrives, which the caller cannot know: ErrUndecided
	Lose           // the call is carried out and its answer is lost: ErrUndecided
	Stale          // a consistent read is carried out as an eventually consistent one
)

// Schedule maps the number of a call, from 0, to its fault. The same schedule makes
// the same calls fail.
type Schedule map[int]Fault

// Engine fails according to its schedule. It is safe for concurrent use; calls are
// numbered in the order in which they arrive.
type Engine struct {
	table.Engine
	schedule Schedule

	mu    sync.Mutex
	calls int
}

// New wraps an engine with a schedule.
func New(of table.Engine, schedule Schedule) *Engine {
	return &Engine{Engine: of, schedule: schedule}
}

// Calls returns the number of calls so far.
func (e *Engine) Calls() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls
}

func (e *Engine) next() Fault {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	return e.schedule[e.calls-1]
}

// read carries out a read under the next fault. Faults that apply to writes only
// have no effect.
func (e *Engine) read(r *table.Reading, do func() error) error {
	fault := e.next()
	switch fault {
	case Throttle:
		return before(table.ErrThrottled)
	case Cut:
		return before(table.ErrUndecided)
	case Stale:
		r.Consistent = false
	case Lose:
		if err := do(); err != nil {
			return err
		}
		return fmt.Errorf("%w: the answer is lost", table.ErrUndecided)
	case None, Conflict:
	}
	return do()
}

// write carries out a write under the next fault. Lose drops the answer, error or
// not.
func (e *Engine) write(do func() (table.Units, error)) (table.Units, error) {
	switch e.next() {
	case Throttle:
		return table.Units{}, before(table.ErrThrottled)
	case Conflict:
		return table.Units{}, before(table.ErrConflict)
	case Cut:
		return table.Units{}, before(table.ErrUndecided)
	case Lose:
		_, err := do()
		return table.Units{}, fmt.Errorf("%w: the answer is lost: %v", table.ErrUndecided, err) //nolint:errorlint // the lost answer's error stays text
	case None, Stale:
	}
	return do()
}

func before(kind error) error { return fmt.Errorf("%w: by schedule", kind) }

// Get reads one item.
func (e *Engine) Get(ctx context.Context, k table.Key, r table.Reading) (item table.Item, u table.Units, err error) {
	err = e.read(&r, func() error {
		item, u, err = e.Engine.Get(ctx, k, r)
		return err
	})
	if err != nil {
		item = nil
	}
	return item, u, err
}

// BatchGet reads many items.
func (e *Engine) BatchGet(ctx context.Context, keys []table.Key, r table.Reading) (items []table.Item, u table.Units, err error) {
	err = e.read(&r, func() error {
		items, u, err = e.Engine.BatchGet(ctx, keys, r)
		return err
	})
	if err != nil {
		items = nil
	}
	return items, u, err
}

// Query reads a page of a query.
func (e *Engine) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	err = e.read(&q.Reading, func() error {
		page, err = e.Engine.Query(ctx, q)
		return err
	})
	if err != nil {
		page = table.Page{Units: page.Units}
	}
	return page, err
}

// Write carries out one write.
func (e *Engine) Write(ctx context.Context, w table.Write) (table.Units, error) {
	return e.write(func() (table.Units, error) { return e.Engine.Write(ctx, w) })
}

// Transact carries out writes, all or none.
func (e *Engine) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	return e.write(func() (table.Units, error) { return e.Engine.Transact(ctx, t) })
}

// BatchWrite carries out puts and deletes.
func (e *Engine) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	return e.write(func() (table.Units, error) { return e.Engine.BatchWrite(ctx, writes) })
}
