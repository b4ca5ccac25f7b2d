package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// interruption calls a function before the at-th request of a store.
type interruption struct {
	at  int
	run func()

	gate  chan struct{} // the counting goroutine holds it; others wait, which a mutex would hide
	count int
	busy  sync.WaitGroup // requests in progress
}

// reached reports, once the operation has returned, whether it made that many
// requests. If not, a request that is still in progress does not call the function.
func (i *interruption) reached() bool {
	i.gate <- struct{}{}
	defer func() { <-i.gate }()
	if i.count < i.at {
		i.at = 0
		return false
	}
	return true
}

// on returns a table whose user is interrupted, while no other of its requests is in
// progress: that one could take effect in the middle of the function.
func (i *interruption) on(engine table.Engine) table.Engine {
	i.gate = make(chan struct{}, 1)
	return hooks.New(engine, hooks.Hooks{Before: func(context.Context, hooks.Call) error {
		i.gate <- struct{}{}
		defer func() { <-i.gate }()
		if i.count++; i.count == i.at {
			i.busy.Wait()
			i.run()
		}
		i.busy.Add(1)
		return nil
	}, After: func(_ context.Context, _ hooks.Call, _ table.Units, err error) error {
		i.busy.Done()
		return err
	}})
}

// TestInterleavings runs one operation during another, before each of its requests.
// The result must be that of executing one after the other, in an order that agrees
// with what was read right after the inner one.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	stages := settings(t, outerCases())
	var sets []set
	for _, outer := range outerCases() {
		for _, inner := range innerCases() {
			sets = append(sets, set{of: outer.name, first: 2, play: func(t *testing.T, at int) bool {
				t.Helper()
				return outer.interrupt(t, inner, stages[outer.setup].fresh(t), at)
			}})
		}
	}
	number{all: 546, few: 87, every: 5}.play(t, sets)
}

// interrupt plays one case; false if the operation needs fewer requests.
func (c crashCase) interrupt(t *testing.T, inner crashCase, st *stage, at int) bool {
	t.Helper()
	what := fmt.Sprintf("%s before request %d of %s", inner.name, at, c.name)
	s := c.model(t, func(*scene) {})
	var innerErr error
	var fit []order
	i := &interruption{at: at, run: func() {
		if innerErr = inner.do(t.Context(), s, st.store); innerErr == nil {
			fit = slices.DeleteFunc(c.orders(inner), func(o order) bool { return st.agrees(c.after(t, o.seen)) != "" })
		}
	}}
	err := c.do(t.Context(), s, open(i.on(st.engine)))
	if !i.reached() {
		return false
	}
	var possible []*scene
	missing := fault.Of(fault.NotFound)
	switch {
	case errors.Is(innerErr, missing) && c.deletes && err == nil:
		possible = append(possible, c.after(t, steps{c.apply}))
	case errors.Is(err, missing) && inner.deletes && innerErr == nil:
		possible = append(possible, c.after(t, steps{inner.apply}))
	case err == nil && innerErr == nil:
		for _, o := range fit {
			possible = append(possible, c.after(t, o.end))
		}
	}
	if len(possible) == 0 {
		t.Errorf("%s: %v, the inner one: %v", what, err, innerErr)
	} else if d := st.agrees(possible...); d != "" {
		t.Errorf("%s: fits no order\n%s", what, d)
	}
	return true
}

type steps []func(*scene)

// order is a possible order of two operations: the states after the inner one and at
// the end.
type order struct{ seen, end steps }

func (c crashCase) after(t *testing.T, s steps) *scene {
	t.Helper()
	return c.model(t, func(sc *scene) {
		for _, step := range s {
			step(sc)
		}
	})
}

func (c crashCase) orders(inner crashCase) []order {
	if c.deletes && inner.deletes {
		return []order{{steps{inner.apply}, steps{inner.apply}}}
	}
	if c.deletes { // the inner one was in time, or found nothing
		both := steps{inner.apply, c.apply}
		return []order{{steps{inner.apply}, both}}
	}
	first, last := steps{inner.apply}, steps{c.apply, inner.apply}
	orders := []order{{last, last}}
	if inner.deletes { // earlier changes are deleted with the session
		return append(orders, order{first, first}, order{first, last})
	}
	orders = append(orders, order{first, steps{inner.apply, c.apply}})
	if c.half != nil {
		orders = append(orders, order{steps{c.half, inner.apply}, steps{c.half, inner.apply, c.apply}})
	}
	if c.snapshot { // it may copy an older state
		orders = append(orders, order{first, last})
		if c.half != nil {
			orders = append(orders, order{steps{c.half, inner.apply}, last})
		}
	}
	return orders
}

// outerCases are the operations that are interrupted.
func outerCases() []crashCase {
	return append(append(taskCases(),
		appendCase("append", "five", `{"k":5,"user:u":null}`, "", `{"app:a":6}`),
		rewindCase("rewind", "four"), forkCase("fork all", "f", ""),
		forkCase("fork at a hidden invocation", "f", "three"),
		forkCase("fork at a concurrent append", "f", "seven")), deleteCase("delete", "story", "s"))
}

// innerCases are the operations that interrupt them.
func innerCases() []crashCase {
	return []crashCase{
		appendCase("append", "six", `{"k":7,"user:u":7}`), twoAppends(), rewindCase("rewind", "two"), forkCase("fork", "g", ""),
		taskCase("save", "task", []bubble{{text: "inner", invocation: "one"}}), deleteCase("delete", "story", "s"),
	}
}

func twoAppends() crashCase {
	first, second := appendCase("", "six", `{"k":7}`), appendCase("", "seven", `{"k":8}`)
	c := first
	c.name = "append twice"
	c.do = func(ctx context.Context, s *scene, store *stores.Store) error {
		if err := first.do(ctx, s, store); err != nil {
			return err
		}
		return second.do(ctx, s, store)
	}
	c.apply = func(s *scene) { first.apply(s); second.apply(s) }
	return c
}
