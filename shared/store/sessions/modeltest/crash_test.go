package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/rethread/rethread/shared/store/stores"
)

var errCrashed = errors.New("the process crashed")

// crash ends a store's work at its at-th request.
type crash struct {
	at     int64
	landed bool // the request was carried out, its answer lost
	once   bool // only this request fails: a fault of the network
	count  atomic.Int64
}

func (c *crash) String() string {
	what, which := "crash", "before"
	if c.once {
		what = "fault"
	}
	if c.landed {
		which = "after"
	}
	return fmt.Sprintf("%s %s request %d", what, which, c.at)
}

// store is a store that crashes: nothing retries, nothing comes after.
func (c *crash) store(client *dynamodb.Client, table string) *stores.Store {
	return open(c.client(client), table)
}

func (c *crash) client(client *dynamodb.Client) *dynamodb.Client {
	options := client.Options()
	options.Retryer = aws.NopRetryer{}
	return dynamodb.New(options, func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, c.add) })
}

func (c *crash) add(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Crash", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
		n := c.count.Add(1)
		if (n == c.at && !c.landed) || (n > c.at && !c.once) {
			return out, metadata, errCrashed
		}
		out, metadata, err = next.HandleFinalize(ctx, in)
		if n == c.at && err == nil {
			err = errCrashed
		}
		return out, metadata, err
	}), "Retry", middleware.After)
}

// crashCase is an operation that crashes. It is described twice, for the store
// and for the model.
type crashCase struct {
	name  string
	setup string // what it begins with
	do    func(context.Context, *scene, *stores.Store) error
	apply func(*scene)
	// half is what the model may show besides: a step that tells nobody
	// anything yet.
	half    func(*scene)
	last    func(*scene, *stage) // after each run
	deletes bool
	// snapshot marks an operation that takes over what was there at a moment
	// in its midst.
	snapshot bool
}

// TestCrashes crashes every operation before each of its requests, and loses
// the answer of each. What is read then must be what it was, or what it was to
// become; and the same operation again must leave it done exactly once.
func TestCrashes(t *testing.T) {
	t.Parallel()
	stage := stages(t)
	var runs []run
	for _, c := range crashCases() {
		for _, lost := range []bool{false, true} {
			runs = append(runs, requests(1, func(at int) bool {
				return c.crash(t, &crash{at: int64(at), landed: lost, once: lost}, stage(c))
			})...)
		}
	}
	spend(t, 15*time.Second, runs)
}

// crash is one run; false where the operation needs fewer requests.
func (c crashCase) crash(t *testing.T, cr *crash, st *stage) bool {
	t.Helper()
	s := c.model(t, func(*scene) {})
	err := c.do(t.Context(), s, cr.store(st.client, st.table))
	reached := cr.count.Load() >= cr.at
	if err != nil && !errors.Is(err, errCrashed) {
		t.Errorf("%s: %s: %v", c.name, cr, err)
	}
	possible := []*scene{c.model(t, c.apply)}
	if err != nil {
		possible = append(possible, s)
		if c.half != nil {
			possible = append(possible, c.model(t, c.half))
		}
	}
	if d := st.agrees(possible...); d != "" {
		t.Errorf("%s: %s, which answers %v: what is there fits nothing\n%s", c.name, cr, err, d)
	}
	if err := c.do(t.Context(), s, st.store); err != nil {
		t.Errorf("%s: %s: again: %v", c.name, cr, err)
	}
	done := c.model(t, c.apply)
	if d := st.agrees(done); d != "" {
		t.Errorf("%s: %s: after the operation again: %s", c.name, cr, d)
	}
	if c.last != nil {
		c.last(done, st)
	}
	return reached
}

// model is the model as it was set up, with a change.
func (c crashCase) model(t *testing.T, change func(*scene)) *scene {
	t.Helper()
	s := &scene{t: t, world: newWorld()}
	c.setUp(s)
	change(s)
	return s
}
