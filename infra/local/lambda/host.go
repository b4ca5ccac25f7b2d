// Package lambda runs functions' own bootstrap binaries as AWS Lambda does: each
// process takes one request at a time over the Lambda Runtime API, more are
// started when all are busy, whoever comes when as many are at work as may be is
// refused at once, and limits, timeouts and crashes are reported in Lambda's words. The same listener serves Lambda's Invoke API, so that the SDK's
// client can call functions.
package lambda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/async"
	"github.com/rethread/rethread/infra/local/destination"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Errors of Invoke. What a function itself does wrong is in Result instead.
var (
	ErrNoFunction      = errors.New("function not found")
	ErrThrottled       = errors.New("rate exceeded")
	ErrRequestTooLarge = errors.New("request is larger than 6 MB")
	ErrClosed          = errors.New("the host is stopping")
)

// Lambda's limits on payloads, as its documentation has them.
const (
	MaxRequestBytes  = 6_291_456
	MaxResponseBytes = 6_291_556
	MaxStreamBytes   = 200 << 20
)

const readHeaderTimeout = 10 * time.Second

// Definition is a function and the binary that implements it.
type Definition struct {
	samtemplate.Function
	Binary string
}

// Options say what to run.
type Options struct {
	Functions []Definition
	Region    string
	Account   string
	// Environment is added to every function's own, after it.
	Environment map[string]string
	// Destinations are told of asynchronous invocations that failed.
	Destinations destination.Destinations
	// Mappings, when given, says what feeds the functions, for those who ask
	// Lambda's API.
	Mappings func(context.Context) ([]Mapping, error)
	// Guard, when given, stands before the API.
	Guard func(http.Handler) http.Handler
	// Concurrency is how many invocations may be at work at once; 0 means
	// DefaultConcurrency. What functions reserve is part of it.
	Concurrency int
	// AsyncWaits are the pauses between the tries of an asynchronous invocation.
	AsyncWaits async.Waits
	// Output gets what the functions print, each line with the function's name.
	Output io.Writer
	Log    *slog.Logger
}

// Host runs functions.
type Host struct {
	opts       Options
	pools      map[string]*pool // by name and by logical id
	server     *http.Server
	address    string
	log        *slog.Logger
	workers    sync.Map // id to *worker
	background *async.Runner
	ctx        context.Context // never ends; it carries what Start's does
}

// Start listens on a free port of this machine. No function runs before its
// first invocation.
func Start(ctx context.Context, opts Options) (*Host, error) {
	for _, definition := range opts.Functions {
		if err := CheckEnvironment(definition.Function); err != nil {
			return nil, err
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for functions: %w", err)
	}
	h := &Host{opts: opts, pools: map[string]*pool{}, address: listener.Addr().String(), log: opts.Log}
	h.ctx = context.WithoutCancel(ctx)
	h.background = async.New(ctx, async.Options{
		Invoker: background{h}, Destinations: opts.Destinations, Region: opts.Region, Account: opts.Account,
		Waits: opts.AsyncWaits, Log: opts.Log,
	})
	output := &lines{next: opts.Output}
	shared := newPlaces(opts.Concurrency, opts.Functions)
	for _, definition := range opts.Functions {
		p := newPool(h, definition, output, shared[definition.LogicalID])
		h.pools[definition.Name], h.pools[definition.LogicalID] = p, p
	}
	h.server = &http.Server{Handler: h.routes(), ReadHeaderTimeout: readHeaderTimeout}
	go func() {
		if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.log.ErrorContext(h.ctx, "the functions' listener failed", "error", err)
		}
	}()
	return h, nil
}

// Endpoint is the base URL of the Invoke API.
func (h *Host) Endpoint() string { return "http://" + h.address }

// Invoke runs a function, named by its name or logical id, and waits for its
// answer or for ctx; a function that has begun runs on when ctx ends.
func (h *Host) Invoke(ctx context.Context, name string, payload []byte) (*Result, error) {
	return h.invoke(ctx, name, newInvocation(uuid.NewString(), payload, ""))
}

func (h *Host) invoke(ctx context.Context, name string, inv *invocation) (*Result, error) {
	p, ok := h.pools[name]
	if !ok {
		return nil, fmt.Errorf("invoke %s: %w", name, ErrNoFunction)
	}
	if len(inv.payload) > MaxRequestBytes {
		return nil, fmt.Errorf("invoke %s: %w", name, ErrRequestTooLarge)
	}
	result, err := p.invoke(ctx, inv)
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", name, err)
	}
	return result, nil
}

// Close ends every function and then the listener.
func (h *Host) Close() {
	h.background.Close()
	for _, p := range h.pools {
		p.close()
	}
	_ = h.server.Close() // nothing is served any more
}
