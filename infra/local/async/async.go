// Package async runs functions in the background like Lambda's asynchronous
// invocation. An invocation starts as soon as a slot is free and is retried after
// a failure, up to a number of attempts and an age; after that the failure is sent
// to a destination. Pending invocations are kept in memory and are lost when the
// host stops.
package async

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/destination"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// MaxPayloadBytes is the largest payload of an asynchronous invocation, 1 MB, as
// documented in the reference of Invoke.
const MaxPayloadBytes = 1 << 20

// Outcome is the result of one attempt.
type Outcome struct {
	Payload       []byte
	FunctionError string // empty when it succeeded
}

// Invoker runs a function once with the given request id and waits for its answer.
// An error means that the function was not started.
type Invoker interface {
	Run(ctx context.Context, function, requestID string, payload []byte) (Outcome, error)
}

// Waits are the pauses between attempts.
type Waits struct {
	// Retries are the pauses after the first and the second failure: 1 and 2 minutes
	// in Lambda, 1 and 2 seconds here unless set.
	Retries [samtemplate.DefaultAsyncRetries]time.Duration
	// FirstRefusal is the pause after an invocation found no free slot; it doubles up
	// to MaxRefusal: 1 second to 5 minutes in Lambda, 50 ms to 5 s here unless set.
	FirstRefusal, MaxRefusal time.Duration
}

// Options configure a Runner.
type Options struct {
	Invoker      Invoker
	Destinations destination.Destinations
	// Region and Account appear in the ARNs of the records that destinations receive.
	Region, Account string
	Waits           Waits
	Log             *slog.Logger
}

// Runner holds the pending invocations, one queue per function.
type Runner struct {
	opts    Options
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	slots  map[string]chan struct{}
	closed bool
}

// maxConcurrent is how many asynchronous invocations of one function run
// concurrently. It leaves room for synchronous ones.
const maxConcurrent = 64

// New returns a runner with empty queues. They outlive ctx; Close ends them.
func New(ctx context.Context, opts Options) *Runner {
	if opts.Waits == (Waits{}) {
		opts.Waits = Waits{
			Retries:      [...]time.Duration{time.Second, 2 * time.Second},
			FirstRefusal: 50 * time.Millisecond, MaxRefusal: 5 * time.Second,
		}
	}
	r := &Runner{opts: opts, slots: map[string]chan struct{}{}}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// Submit queues an invocation and returns. Every attempt carries the request id. A
// closed runner drops the invocation.
func (r *Runner) Submit(function samtemplate.Function, requestID string, payload []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	places, ok := r.slots[function.LogicalID]
	if !ok {
		places = make(chan struct{}, maxConcurrent)
		r.slots[function.LogicalID] = places
	}
	e := &event{
		Runner: r, function: function, id: requestID, payload: payload, slots: places,
		settings: settings(function), since: time.Now(),
	}
	r.running.Go(func() { e.run(r.ctx) })
}

// Close drops the pending invocations and returns once none is running.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	r.running.Wait()
}

func settings(function samtemplate.Function) samtemplate.AsyncInvoke {
	if function.Async != nil {
		return *function.Async
	}
	return samtemplate.AsyncInvoke{MaxRetries: samtemplate.DefaultAsyncRetries, MaxAge: samtemplate.DefaultAsyncAge}
}
