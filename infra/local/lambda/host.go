// Package lambda runs functions' bootstrap binaries like AWS Lambda. Each process
// handles one request at a time over the Lambda Runtime API. More processes are
// started when all are busy, up to the concurrency limit; invocations over it are
// refused at once. Limits, timeouts and crashes are reported with Lambda's errors.
// The same listener serves Lambda's Invoke API, so that SDK clients can call
// functions.
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

// Errors of Invoke. A function's own error is in Result instead.
var (
	ErrNoFunction      = errors.New("function not found")
	ErrThrottled       = errors.New("rate exceeded")
	ErrRequestTooLarge = errors.New("request is larger than 6 MB")
	ErrClosed          = errors.New("the host is stopping")
)

// Lambda's documented payload limits.
const (
	MaxRequestBytes  = 6_291_456
	MaxResponseBytes = 6_291_556
	MaxStreamBytes   = 200 << 20
)

const readHeaderTimeout = 10 * time.Second

// Definition is a function and its binary.
type Definition struct {
	samtemplate.Function
	Binary string
}

// Options configure a Host.
type Options struct {
	Functions []Definition
	Region    string
	Account   string
	// Environment is added to every function's own variables and overrides them.
	Environment map[string]string
	// Destinations receive the records of failed asynchronous invocations.
	Destinations destination.Destinations
	// Mappings, if set, returns the event source mappings that Lambda's API lists.
	Mappings func(context.Context) ([]Mapping, error)
	// Guard, if set, wraps the API and checks its callers.
	Guard func(http.Handler) http.Handler
	// Concurrency limits concurrent invocations; 0 means DefaultConcurrency.
	// Functions' reserved concurrency is part of it.
	Concurrency int
	// AsyncWaits are the pauses between the attempts of an asynchronous invocation.
	AsyncWaits async.Waits
	// Output receives what the functions print, each line prefixed with the function's
	// name.
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
	ctx        context.Context // never ends; carries the values of Start's context
}

// Start listens on a free local port. No function is started before its first
// invocation.
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
	shared := newSlots(opts.Concurrency, opts.Functions)
	for _, definition := range opts.Functions {
		p := newPool(h, definition, output, shared[definition.LogicalID])
		h.pools[definition.Name], h.pools[definition.LogicalID] = p, p
	}
	h.server = &http.Server{Handler: h.routes(), ReadHeaderTimeout: readHeaderTimeout}
	go func() {
		if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.log.ErrorContext(h.ctx, "the listener of Lambda's API failed; functions can no longer run, restart to continue", "error", err)
		}
	}()
	return h, nil
}

// Endpoint is the base URL of the Invoke API.
func (h *Host) Endpoint() string { return "http://" + h.address }

// Invoke runs a function, named by its name or logical id, and waits for its
// answer or for ctx. A function that has started runs on after ctx has ended.
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

// Invocations returns how often a function, named by its name or logical id, was
// invoked, without those invocations that were refused; 0 for an unknown function.
func (h *Host) Invocations(name string) int {
	p, ok := h.pools[name]
	if !ok {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Close ends every function and then the listener.
func (h *Host) Close() {
	h.background.Close()
	for _, p := range h.pools {
		p.close()
	}
	_ = h.server.Close() // no invocation is left
}
