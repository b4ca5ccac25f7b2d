package rethread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Addresses are those of a deployment besides its own.
type Addresses struct {
	StreamURL    string // of exports, watching and agents, without /api/v1
	WebSocketURL string
}

const (
	version = "/api/v1"
	// lasting is how long the addresses that a deployment has named are used before it is
	// asked again.
	lasting = time.Hour
)

// base is an address that paths are appended to.
type base int

const (
	baseAPI        base = iota // of the deployment, with the version
	baseRoot                   // without it
	baseStream                 // of streams, with the version
	baseStreamRoot             // without it
)

// addresses are those of a deployment, which all its clients share.
//
// The token is sent to each of them. Those that the deployment names may have other
// origins, because the streams of a deployment have: who answers at its own address gets
// the token with each call anyway. So an answer from elsewhere, by a redirect, is not
// taken, nor a step from https down to http.
type addresses struct {
	root    string // the deployment's own, without the version
	streams string // without the version; "" if the deployment is asked for it

	mu      sync.Mutex
	named   Addresses
	until   time.Time // when the deployment is asked again
	pending *pendingAddresses
}

// pendingAddresses is a question. named and err are set before done is closed.
type pendingAddresses struct {
	done  chan struct{}
	named Addresses
	err   error
}

func withoutVersion(address string) string {
	return strings.TrimSuffix(strings.TrimRight(address, "/"), version)
}

// Addresses returns where the deployment serves streams and websockets, for SDKs of other
// protocols. The deployment is asked for it once an hour; what it said before holds on
// while it cannot be asked. ErrInvalid means that it names none.
func (c *Client) Addresses(ctx context.Context) (Addresses, error) {
	return c.transport.find(ctx)
}

// address returns what a call's path is appended to.
func (t *transport) address(ctx context.Context, b base) (string, error) {
	switch b {
	case baseAPI:
		return t.addresses.root + version, nil
	case baseRoot:
		return t.addresses.root, nil
	case baseStream, baseStreamRoot:
	}
	root := t.addresses.streams
	if root == "" {
		named, err := t.find(ctx)
		if err != nil {
			return "", err
		}
		root = named.StreamURL
	}
	if b == baseStream {
		root += version
	}
	return root, nil
}

// find returns the addresses that the deployment names. Calls at the same time share a
// question, and its failure, which is not remembered.
func (t *transport) find(ctx context.Context) (Addresses, error) {
	p := t.asked(ctx)
	select {
	case <-p.done:
		return p.named, p.err
	case <-ctx.Done():
		return Addresses{}, context.Cause(ctx)
	}
}

// asked returns the pending question, or asks one unless the answer is known. It is not
// bound to the call that began it, because others may wait for it.
func (t *transport) asked(ctx context.Context) *pendingAddresses {
	a := t.addresses
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending != nil {
		return a.pending
	}
	p := &pendingAddresses{done: make(chan struct{}), named: a.named}
	if time.Now().Before(a.until) {
		close(p.done)
		return p
	}
	a.pending = p
	asking := context.WithoutCancel(ctx)
	go func() {
		named, err := t.ask(asking)
		a.mu.Lock()
		defer a.mu.Unlock()
		if err == nil {
			a.named = named
		}
		if p.named = a.named; p.named == (Addresses{}) {
			p.err = err
		} else {
			a.until = time.Now().Add(lasting)
		}
		a.pending = nil
		close(p.done)
	}()
	return p
}

// ask asks the deployment.
func (t *transport) ask(ctx context.Context) (Addresses, error) {
	got, err := t.do(ctx, call{method: http.MethodGet, public: true}, nil)
	var failed *Error
	if errors.As(err, &failed) && (failed.Status == http.StatusNotFound || failed.Status >= 300 && failed.Status < 400) {
		return Addresses{}, t.unnamed(err)
	}
	if err != nil {
		return Addresses{}, err
	}
	var document struct {
		Data struct {
			StreamURL    string `json:"stream_url"`
			WebSocketURL string `json:"websocket_url"`
		}
	}
	if err := json.Unmarshal(got.body, &document); err != nil {
		return Addresses{}, t.unnamed(err)
	}
	named := Addresses{withoutVersion(document.Data.StreamURL), document.Data.WebSocketURL}
	own, err := url.Parse(t.addresses.root)
	if err != nil {
		return Addresses{}, t.unnamed(err)
	}
	if err = checkNamed(own, named.StreamURL, "http"); err == nil {
		err = checkNamed(own, named.WebSocketURL, "ws")
	}
	if err != nil {
		return Addresses{}, t.unnamed(err)
	}
	return named, nil
}

func (t *transport) unnamed(cause error) error {
	return fmt.Errorf("%w: URL: %s does not name the other addresses, so they must be set: %w", ErrInvalid, t.addresses.root+version, cause)
}

// checkNamed returns an error unless a deployment may name an address for a scheme. One
// with encryption names only such.
func checkNamed(own *url.URL, address, scheme string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || !isPort(parsed.Port()) || parsed.Fragment != "" ||
		parsed.Scheme != scheme+"s" && (parsed.Scheme != scheme || own.Scheme == "https") {
		return fmt.Errorf("%q is no address for %s", address, scheme)
	}
	return nil
}
