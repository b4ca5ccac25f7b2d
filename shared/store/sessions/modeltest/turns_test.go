package modeltest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/store/stores"
)

// waiting is how long a caller may take, most of which it waits for others.
const waiting = 5 * time.Minute

// errDied is what a caller's requests end with once it has died.
var errDied = errors.New("the caller has died")

// caller does one thing with a store, request by request: each waits for its
// turn.
type caller struct {
	name string
	err  error // of what it did, once it is over

	dies context.CancelCauseFunc
	asks chan chan struct{} // a request that waits; what it sends back tells that it is done
	over chan struct{}
}

// call begins what a caller does, which gets no further than its first request.
func (st *stage) call(name string, do func(context.Context, *stores.Store) error) *caller {
	deadline, cancel := context.WithTimeout(st.t.Context(), waiting)
	ctx, dies := context.WithCancelCause(deadline)
	c := &caller{name: name, dies: dies, asks: make(chan chan struct{}), over: make(chan struct{})}
	client := dynamodb.New(st.client.Options(), func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, c.add) })
	go func() {
		defer cancel()
		defer close(c.over)
		if c.err = do(ctx, limited(client, st.table)); ctx.Err() != nil {
			c.err = context.Cause(ctx)
		}
	}()
	return c
}

func (c *caller) add(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("TakeTurns", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		done := make(chan struct{})
		select {
		case c.asks <- done:
		case <-ctx.Done():
			return middleware.InitializeOutput{}, middleware.Metadata{}, ctx.Err()
		case <-c.over: // what it left under way is of no interest any more
			return middleware.InitializeOutput{}, middleware.Metadata{}, errDied
		}
		defer close(done)
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// turn lets the caller make one request; false where it is over.
func (c *caller) turn() bool {
	select {
	case done := <-c.asks:
		<-done
		return true
	case <-c.over:
		return false
	}
}

// turns lets it make so many requests, and tells how many there were.
func (c *caller) turns(most int) int {
	for n := range most {
		if !c.turn() {
			return n
		}
	}
	return most
}

// finish lets it make the rest of its requests, and returns what became of it.
func (c *caller) finish() error {
	for c.turn() {
	}
	return c.err
}

// die stops the caller where it is: it hears of nothing that it has asked for
// and not got.
func (c *caller) die() {
	c.dies(errDied)
	<-c.over
}

// effort is how many cases a test plays, and for how long at most.
type effort struct {
	least int
	time  time.Duration
}

// play does cases until all are done or the time is up, but so many at least.
func (b effort) play(t *testing.T, what string, cases []run) {
	t.Helper()
	deadline := time.Now().Add(b.time)
	n := 0
	for ; n < len(cases) && !t.Failed() && (n < b.least || time.Now().Before(deadline)); n++ {
		cases[n]()
	}
	t.Logf("%s: %d of %d cases", what, n, len(cases))
	if n < b.least && !t.Failed() {
		t.Errorf("%s: %d cases, want %d", what, n, b.least)
	}
}
