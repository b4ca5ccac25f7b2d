// Package websocket emulates an API Gateway WebSocket API in front of Lambda
// functions: the handshake with its authorizer and $connect, routes chosen by the
// message, $disconnect, the @connections API by which functions send to clients,
// and API Gateway's limits. Route responses are not supported: a function's answer
// to a message is not sent to the client.
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

// errConnectMissing is also an error in API Gateway.
var errConnectMissing = errors.New("an authorizer needs a $connect route")

// Options configure the gateway of one API.
type Options struct {
	API             samtemplate.WebSocketAPI
	Invoker         proxyv1.Invoker
	Region, Account string
	// Limits that are 0 have API Gateway's values.
	Limits Limits
	// Throttle, if set, reports whether a post to that connection exceeds the rate;
	// the sender then gets LimitExceededException.
	Throttle func(connectionID string) bool
	Log      func(gateway.Access)
}

// Limits of a WebSocket API. The defaults are API Gateway's quotas, except where a
// field states otherwise.
type Limits struct {
	FrameBytes   int64         // of a frame from the client: 32 KB
	MessageBytes int64         // of a message, either way: 128 KB
	Idle         time.Duration // without a message either way or a ping: 10 minutes
	Lifetime     time.Duration // of a connection: 2 hours
	// Write is how long a client may take to read a message: 10 seconds. API Gateway
	// does not document its limit.
	Write time.Duration
	// Waiting is how many messages may wait for a slow client: 128. API Gateway does
	// not document its limit. A post over it is refused.
	Waiting int
	// Parallel is how many of a connection's messages are processed concurrently: 16.
	// API Gateway has no such limit. Further messages wait unread.
	Parallel int
	// CloseWait is how long a client may take to answer the close frame: 2 seconds.
	CloseWait time.Duration
}

func (l Limits) orDefault() Limits {
	setDefault(&l.FrameBytes, 32<<10)
	setDefault(&l.MessageBytes, 128<<10)
	setDefault(&l.Idle, 10*time.Minute)
	setDefault(&l.Lifetime, 2*time.Hour)
	setDefault(&l.Write, 10*time.Second)
	setDefault(&l.Waiting, 128)
	setDefault(&l.Parallel, 16)
	setDefault(&l.CloseWait, 2*time.Second)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// API is the handler of one WebSocket API: handshakes at / and at /<stage>, and
// the @connections API below both.
type API struct {
	opts       Options
	limits     Limits
	selection  selection
	authorizer *proxyv1.Authorizer // nil accepts every client
	limiter    throttle.Limiter

	// base outlives requests and ends with the API, because connections outlive the
	// request of their handshake.
	base context.Context
	stop context.CancelFunc

	mu          sync.Mutex
	closed      bool
	connections map[string]*connection
	running     sync.WaitGroup
}

// New returns the gateway of the template's API. It fails if a part of the API
// would behave differently in the cloud. Close ends it.
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
		a.serveConnections(rw, r, id)
	default:
		a.handshake(rw, r)
	}
}

// Close closes every connection, including $disconnect, and cuts off what is left
// when ctx ends.
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

// begin registers an operation that Close waits for.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.running.Add(1)
	return true
}

// register makes a connection available for posts. It fails if the API is closing.
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
	_, _ = rw.Write([]byte(body)) // the caller may have disconnected
}
