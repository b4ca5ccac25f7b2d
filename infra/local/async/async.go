// Package async runs functions in the background as Lambda's asynchronous
// invocation does: at once if there is room, again when they fail, up to a number
// of tries and an age, and then it tells a destination of the failure. What waits
// is kept in memory and goes with the host.
package async

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/destination"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// MaxPayloadBytes is the most that an asynchronous invocation may carry, 1 MB, as
// the reference of Invoke has it.
const MaxPayloadBytes = 1 << 20

// Outcome is how a try ended.
type Outcome struct {
	Payload       []byte
	FunctionError string // empty when it succeeded
}

// Invoker runs a function once, under that request id, and waits for its answer.
// An error means that the function was not even begun.
type Invoker interface {
	Run(ctx context.Context, function, requestID string, payload []byte) (Outcome, error)
}

// Waits are the pauses between tries.
type Waits struct {
	// Retries come after the first and the second failure: 1 and 2 minutes in
	// Lambda, 1 and 2 seconds here unless set.
	Retries [samtemplate.DefaultAsyncRetries]time.Duration
	// FirstRefusal comes after an invocation found no room, doubling up to
	// MostRefusal: 1 second to 5 minutes in Lambda, 50 ms to 5 s here unless set.
	FirstRefusal, MostRefusal time.Duration
}

// Options say how to run.
type Options struct {
	Invoker      Invoker
	Destinations destination.Destinations
	// Region and Account stand in the ARNs of what destinations are told.
	Region, Account string
	Waits           Waits
	Log             *slog.Logger
}

// Runner keeps what waits, a queue for each function.
type Runner struct {
	opts    Options
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	places map[string]chan struct{}
	closed bool
}

// mostAtOnce is how many invocations of one function are under way together. It
// leaves room for those that somebody waits for.
const mostAtOnce = 64

// New starts with empty queues. They outlive ctx; Close ends them.
func New(ctx context.Context, opts Options) *Runner {
	if opts.Waits == (Waits{}) {
		opts.Waits = Waits{
			Retries:      [...]time.Duration{time.Second, 2 * time.Second},
			FirstRefusal: 50 * time.Millisecond, MostRefusal: 5 * time.Second,
		}
	}
	r := &Runner{opts: opts, places: map[string]chan struct{}{}}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// Submit queues an invocation and returns. Every try carries the request id. A
// runner that is closed drops it.
func (r *Runner) Submit(function samtemplate.Function, requestID string, payload []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	places, ok := r.places[function.LogicalID]
	if !ok {
		places = make(chan struct{}, mostAtOnce)
		r.places[function.LogicalID] = places
	}
	e := &event{
		Runner: r, function: function, id: requestID, payload: payload, places: places,
		settings: settings(function), since: time.Now(),
	}
	r.running.Go(func() { e.run(r.ctx) })
}

// Close drops what waits and returns when nothing runs any more.
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
