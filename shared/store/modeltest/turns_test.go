package modeltest_test

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// waiting is how long a caller may take, including the waits for others.
const waiting = time.Hour

// errDied is the error of a caller's requests once it has died.
var errDied = errors.New("the caller has died")

// caller performs one operation with a store, request by request; each request waits
// for its turn.
type caller struct {
	name string
	err  error // of the operation, once it is over

	dies context.CancelCauseFunc
	asks chan struct{} // a request that waits for its turn
	done chan struct{} // a request that had its turn and has ended
	over chan struct{}
}

// call begins an operation, which waits at its first request.
func (st *stage) call(name string, do func(context.Context, *stores.Store) error) *caller {
	deadline, cancel := context.WithTimeout(st.t.Context(), waiting)
	ctx, dies := context.WithCancelCause(deadline)
	c := &caller{name: name, dies: dies, asks: make(chan struct{}), done: make(chan struct{}), over: make(chan struct{})}
	engine := hooks.New(st.engine, hooks.Hooks{Before: c.before, After: c.after})
	go func() {
		defer cancel()
		defer close(c.over)
		if c.err = do(ctx, limited(engine)); ctx.Err() != nil {
			c.err = context.Cause(ctx)
		}
	}()
	return c
}

func (c *caller) before(ctx context.Context, _ hooks.Call) error {
	select {
	case c.asks <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.over: // its unfinished request does not matter any more
		return errDied
	}
}

// after notifies the code that gave the turn, which waits for it.
func (c *caller) after(_ context.Context, _ hooks.Call, _ table.Units, err error) error {
	c.done <- struct{}{}
	return err
}

// turn lets the caller make one request; false if it has ended.
func (c *caller) turn() bool {
	select {
	case <-c.asks:
		<-c.done
		return true
	case <-c.over:
		return false
	}
}

// turns lets the caller make up to most requests, and returns how many it made.
func (c *caller) turns(most int) int {
	for n := range most {
		if !c.turn() {
			return n
		}
	}
	return most
}

// finish lets the caller make the rest of its requests, and returns its error.
func (c *caller) finish() error {
	for c.turn() {
	}
	return c.err
}

// die stops the caller: it gets no answer to a request in progress.
func (c *caller) die() {
	c.dies(errDied)
	<-c.over
}
