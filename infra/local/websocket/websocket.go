// Package websocket imitates an API Gateway WebSocket API in front of Lambda
// functions: the handshake with its authorizer and $connect, routes chosen by
// what a message says, $disconnect, the @connections API by which functions
// write to clients, and the limits of all that. Like the templates that are
// supported here it goes one way: what functions answer to a message is not sent
// to the client.
package websocket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
	"github.com/rethread/rethread/infra/local/gateway/throttle"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// errConnectMissing is what API Gateway says about such an API too.
var errConnectMissing = errors.New("an authorizer needs a $connect route")

// Options are what the gateway of one API needs.
type Options struct {
	API             samtemplate.WebSocketAPI
	Invoker         proxyv1.Invoker
	Region, Account string
	// Limits that are 0 are API Gateway's own.
	Limits Limits
	// Throttle, when given, says whether a post to that connection is one too
	// many, which its sender is told with LimitExceededException.
	Throttle func(connectionID string) bool
	Log      func(gateway.Access)
}

// Limits of a WebSocket API, where a field says nothing else as its quotas have
// them.
type Limits struct {
	FrameBytes   int64         // of a frame from the client: 32 KB
	MessageBytes int64         // of a message, either way: 128 KB
	Idle         time.Duration // without a message either way or a ping: 10 minutes
	Life         time.Duration // of a connection: 2 hours
	// Write is how long a client may take to read a message, which API Gateway
	// does not document: 10 seconds.
	Write time.Duration
	// Waiting is how many messages wait for a client that reads slowly, which API
	// Gateway does not document: 128. Posting one more is refused.
	Waiting int
	// Parallel is how many of a connection's messages are worked on at a time,
	// which API Gateway does not limit: 16. The next waits unread.
	Parallel int
	// Farewell is how long a client may take to agree to the end: 2 seconds.
	Farewell time.Duration
}

func (l Limits) orDefault() Limits {
	setDefault(&l.FrameBytes, 32<<10)
	setDefault(&l.MessageBytes, 128<<10)
	setDefault(&l.Idle, 10*time.Minute)
	setDefault(&l.Life, 2*time.Hour)
	setDefault(&l.Write, 10*time.Second)
	setDefault(&l.Waiting, 128)
	setDefault(&l.Parallel, 16)
	setDefault(&l.Farewell, 2*time.Second)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// API is the handler of one WebSocket API: handshakes at / and at /<stage>, and
// the @connections API below either.
type API struct {
	opts       Options
	limits     Limits
	selection  selection
	authorizer *proxyv1.Authorizer // nil lets everybody in
	limiter    throttle.Limiter

	// base outlives requests and ends with the API: connections do not end with
	// the request that they began as.
	base context.Context
	stop context.CancelFunc

	mu          sync.Mutex
	closed      bool
	connections map[string]*connection
	running     sync.WaitGroup
}

// New returns the gateway of the template's API. It fails for what would work
// here and not there, or the other way round. Close ends it.
func New(ctx context.Context, opts Options) (*API, error) {
	a := &API{opts: opts, limits: opts.Limits.orDefault(), limiter: throttle.New(opts.API.Throttle), connections: map[string]*connection{}}
	selection, err := newSelection(opts.API.RouteSelection)
	if err != nil {
		return nil, fmt.Errorf("WebSocket API %s: %w", opts.API.LogicalID, err)
	}
	a.selection = selection
	if opts.API.Authorizer != "" {
		if _, ok := opts.API.Routes[connectKey]; !ok {
			return nil, fmt.Errorf("WebSocket API %s: %w", opts.API.LogicalID, errConnectMissing)
		}
		a.authorizer = &proxyv1.Authorizer{
			Function: opts.API.Authorizer, Identity: opts.API.Identity, Invoker: opts.Invoker,
		}
		if err := a.authorizer.Check(); err != nil {
			return nil, err
		}
	}
	a.base, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	return a, nil
}

// ServeHTTP implements http.Handler. It returns when the connection has ended.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if !a.begin() {
		http.Error(rw, "stopping", http.StatusServiceUnavailable)
		return
	}
	defer a.running.Done()
	rest, id, managed := strings.Cut(r.URL.Path, "/@connections/")
	switch stage := strings.Trim(rest, "/"); {
	case stage != "" && stage != a.opts.API.Stage:
		refuse(rw, http.StatusForbidden, `{"message":"Forbidden"}`)
	case managed:
		a.manage(rw, r, id)
	default:
		a.handshake(rw, r)
	}
}

// Close ends every connection in order, $disconnect included, and cuts off what
// still runs when ctx ends.
func (a *API) Close(ctx context.Context) {
	a.mu.Lock()
	a.closed = true
	open := slices.Collect(maps.Values(a.connections))
	a.mu.Unlock()
	for _, c := range open {
		c.close(ws.StatusGoingAway)
	}
	defer context.AfterFunc(ctx, a.stop)()
	a.running.Wait()
	a.stop()
}

// begin announces something that Close waits for.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.running.Add(1)
	return true
}

// register makes a connection one that can be written to. It fails when the API
// is being closed.
func (a *API) register(c *connection) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.connections[c.id] = c
	return true
}

func (a *API) forget(c *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.connections, c.id)
}

func (a *API) find(id string) (*connection, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.connections[id]
	return c, ok
}

func refuse(rw http.ResponseWriter, status int, body string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = rw.Write([]byte(body)) // a caller that is gone needs no answer
}
