package meter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/iam"
)

const (
	headerTimeout = 10 * time.Second
	// forwardTime is more than DynamoDB takes for any request.
	forwardTime = time.Minute
	mostIdle    = 256
	apiPrefix   = "DynamoDB_20120810."
)

// Proxy passes requests to DynamoDB and counts them.
type Proxy struct {
	URL string

	target string
	client *http.Client
	server *http.Server
	stored stored
	done   chan error

	mu     sync.Mutex
	calls  map[Call]Usage
	tokens map[string]struct{}  // transactions that were carried out
	active map[string]int       // requests under way, by function
	last   map[string]time.Time // when the last request of a function ended
	failed error
}

// Start listens on a free port of this machine until Close. target is the engine's
// base URL.
func Start(ctx context.Context, target string) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen in front of the table: %w", err)
	}
	p := &Proxy{
		URL: "http://" + listener.Addr().String(), target: target, done: make(chan error, 1),
		calls: map[Call]Usage{}, tokens: map[string]struct{}{},
		active: map[string]int{}, last: map[string]time.Time{},
		client: &http.Client{Transport: &http.Transport{
			MaxIdleConns: mostIdle, MaxIdleConnsPerHost: mostIdle,
			DisableCompression: true, // answers carry checksums of the bytes sent
		}},
	}
	p.stored.endpoint = target
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: headerTimeout}
	go func() { p.done <- p.server.Serve(listener) }()
	return p, nil
}

// Close cuts off all connections. It returns the first error of the counting, after
// which the counts are wrong.
func (p *Proxy) Close() error {
	err := p.server.Close()
	if served := <-p.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	p.client.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(err, p.failed)
}

// Counts returns the counts so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.calls)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller disconnected
	}
	// A request that was sent is carried out and charged, even if its caller leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), forwardTime)
	defer cancel()
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), apiPrefix)
	var got answer
	if !ok || !isCharged(operation) {
		got, err = p.forward(ctx, r, body)
	} else {
		p.begin(r)
		got, err = p.measured(ctx, r, operation, body)
		p.end(r)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // like a service that does not answer
	}
	got.write(rw)
}

// isCharged reports whether an operation consumes units.
func isCharged(operation string) bool {
	switch operation {
	case "GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan",
		"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return true
	}
	return false
}

// measured carries out a request and counts it.
func (p *Proxy) measured(ctx context.Context, r *http.Request, operation string, body []byte) (answer, error) {
	c, err := p.newCharge(r, operation, body)
	if err != nil {
		p.fail(fmt.Errorf("count %s: %w", operation, err))
		return p.forward(ctx, r, body)
	}
	if err := c.before(ctx); err != nil {
		p.fail(fmt.Errorf("count %s: %w", operation, err))
	}
	got, err := p.forward(ctx, r, c.body)
	if err != nil {
		return got, err
	}
	usage, err := c.usage(ctx, got)
	if err != nil {
		p.fail(fmt.Errorf("count %s: %w", operation, err))
	}
	p.add(Call{r.Header.Get(iam.FunctionHeader), operation}, usage)
	return got, nil
}

func (p *Proxy) begin(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[r.Header.Get(iam.FunctionHeader)]++
}

func (p *Proxy) end(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	function := r.Header.Get(iam.FunctionHeader)
	p.active[function]--
	p.last[function] = time.Now()
}

func (p *Proxy) add(c Call, u Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[c] = p.calls[c].Plus(u)
}

func (p *Proxy) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

// answer is the engine's answer, read completely.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (p *Proxy) forward(ctx context.Context, r *http.Request, body []byte) (answer, error) {
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

func (a answer) write(rw http.ResponseWriter) {
	maps.Copy(rw.Header(), a.header)
	rw.WriteHeader(a.status)
	_, _ = rw.Write(a.body) // the caller may have disconnected
}

// errorKind returns the name of an error, without its namespace; "" for a success.
func (a answer) errorKind() string {
	if a.status == http.StatusOK {
		return ""
	}
	var e struct {
		Type string `json:"__type"`
	}
	_ = json.Unmarshal(a.body, &e) // any other failure has no name
	return e.Type[strings.LastIndex(e.Type, "#")+1:]
}
