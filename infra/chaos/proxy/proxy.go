// Package proxy is a proxy in front of DynamoDB that injects a plan's faults, as
// they occur in the service and the network.
package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/chaos/faults"
)

const (
	headerTimeout = 10 * time.Second
	mostIdle      = 256
	// maxDelay limits the delay of an answer.
	maxDelay = 2 * time.Second
)

// Proxy passes requests to an engine.
type Proxy struct {
	URL string

	target string
	plan   *faults.Plan
	client *http.Client
	server *http.Server
	stream stream

	mu       sync.Mutex
	requests int
	injected map[faults.Kind]int
}

// Start listens on a free port until Close.
func Start(ctx context.Context, target string, plan *faults.Plan) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen in front of the database: %w", err)
	}
	p := &Proxy{
		URL: "http://" + listener.Addr().String(), target: target, plan: plan, injected: map[faults.Kind]int{},
		client: &http.Client{Transport: &http.Transport{
			MaxIdleConns: mostIdle, MaxIdleConnsPerHost: mostIdle,
			DisableCompression: true, // answers carry checksums of the bytes sent
		}},
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: headerTimeout}
	go func() { _ = p.server.Serve(listener) }() // Close ends it
	return p, nil
}

// Close cuts off all connections.
func (p *Proxy) Close() error {
	p.client.CloseIdleConnections()
	return p.server.Close()
}

// Counts returns the number of requests, and the number of injected faults by
// kind.
func (p *Proxy) Counts() (requests int, injected map[faults.Kind]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	injected = map[faults.Kind]int{}
	for kind, n := range p.injected {
		injected[kind] = n
	}
	return p.requests, injected
}

func (p *Proxy) count(kind faults.Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind != faults.None {
		p.injected[kind]++
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller disconnected
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	p.mu.Lock()
	p.requests++
	p.mu.Unlock()
	kind, severity := p.plan.Pick(operation, time.Now())
	call := &call{proxy: p, operation: operation, request: r, body: body, severity: severity}
	if kind == faults.Partial && !call.isSplittable() || kind == faults.Repeated && !p.stream.knows(body) {
		kind = faults.None
	}
	p.count(kind)
	call.serve(r.Context(), rw, kind)
}

// answer is the engine's answer, read completely.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// forward passes a request to the engine, even if its caller has disconnected: a
// request that was sent is carried out.
func (p *Proxy) forward(ctx context.Context, r *http.Request, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header = r.Header.Clone()
	res, err := p.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	got, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: got}, err
}
