// Package watch follows sessions over a websocket, which it keeps connected, and
// calls back with the session after each change. Package view has the rules for
// applying messages, without network code.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch/view"
)

// Timings and limits of a connection, set by API Gateway's limits.
const (
	renewAfter    = 110 * time.Minute // the gateway closes a connection after 2 hours
	lingerTime    = 30 * time.Second  // how long an old connection stays open beside its successor
	pingEvery     = 5 * time.Minute   // the gateway closes a connection idle for 10 minutes
	answerTimeout = 10 * time.Second
	dialTimeout   = 30 * time.Second
	maxFrame      = 256 << 10 // bytes; the server sends at most half as much
)

// The final errors of Client.Watch.
var (
	ErrNotFound  = errors.New("session not found")
	ErrForbidden = errors.New("no access to the session")
	ErrDeleted   = errors.New("the session was deleted")
	ErrWatched   = errors.New("the client already watches the session")
	ErrClosed    = errors.New("the client is closed")
	ErrRefused   = errors.New("the server rejected the request") // with status 400 or 422
)

// Config configures a Client.
type Config struct {
	URL   string // the deployment's address, such as https://api.example, with or without /api/v1
	WSURL string // the WebSocket API's address, such as wss://live.example/v1; "" asks the deployment
	// Token returns a bearer token, which should be valid for some more minutes. It
	// is called for each connection and each page of a thread, so it should cache.
	Token rethread.TokenSource
	User  string // that a service acts for; "" is the user of the token

	HTTP *http.Client // nil means http.DefaultClient; also dials the websocket
	Log  *slog.Logger // nil discards the log
}

// Client watches any number of sessions over one connection, which it replaces
// before the gateway closes it. It is safe for concurrent use.
type Client struct {
	Config
	api     *rethread.Client
	invalid error           // of the configuration
	life    context.Context // the client's lifetime
	stop    context.CancelCauseFunc
	running sync.WaitGroup

	mu       sync.Mutex
	conn     *connection // nil while disconnected
	sessions map[string]*watched
}

// Open returns a client that connects in the background, and reconnects until it
// is closed or ctx ends. Failed attempts are repeated after a random delay of up
// to 30 seconds. With an invalid configuration each call of Watch fails, also if the
// deployment does not name the address that is missing.
func Open(ctx context.Context, c Config) *Client {
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancelCause(ctx)
	out := &Client{Config: c, life: ctx, stop: stop, sessions: map[string]*watched{}}
	if out.api, out.invalid = newAPI(c); out.invalid == nil {
		out.running.Go(func() { out.stayConnected(ctx) })
	}
	return out
}

// Close closes the connection and waits for the client's goroutines. Calls of
// Watch return ErrClosed.
func (c *Client) Close() {
	c.stop(ErrClosed)
	c.running.Wait()
}

// Watch follows a session and calls onChange with its current state: first when
// the session has been read, then after changes. Calls do not overlap; changes
// that arrive during a call are combined into the next. Watch returns the cause of
// ctx when it ends, or one of ErrNotFound, ErrForbidden, ErrDeleted, ErrWatched,
// ErrRefused and ErrClosed; it retries all other failures.
func (c *Client) Watch(ctx context.Context, sessionID string, onChange func(view.Session)) error {
	if c.invalid != nil {
		return fmt.Errorf("watch session %s: %w", sessionID, c.invalid)
	}
	w := &watched{c: c, id: sessionID, state: view.NewState(), wake: make(chan struct{}, 1), onChange: onChange}
	if !c.register(w) {
		return fmt.Errorf("watch session %s: %w", sessionID, ErrWatched)
	}
	defer c.unregister(w)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.life, func() { stop(c.ended()) })() //nolint:contextcheck // the client has its own lifetime
	return w.run(ctx)
}

// ended returns why the client's lifetime has ended.
func (c *Client) ended() error {
	if cause := context.Cause(c.life); errors.Is(cause, rethread.ErrInvalid) {
		return cause
	}
	return ErrClosed
}

func (c *Client) register(w *watched) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[w.id] != nil {
		return false
	}
	c.sessions[w.id] = w
	return true
}

func (c *Client) unregister(w *watched) {
	c.mu.Lock()
	delete(c.sessions, w.id)
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.send(action{Action: "unsubscribe", SessionID: w.id})
	}
}

// watched returns the watched session with an id, nil if there is none.
func (c *Client) watched(sessionID string) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[sessionID]
}

// allWatched returns all watched sessions.
func (c *Client) allWatched() []*watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*watched, 0, len(c.sessions))
	for _, w := range c.sessions {
		out = append(out, w)
	}
	return out
}

func (c *Client) current() *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// backoff returns the delay after a number of failures in a row: random, up to
// 250 ms after the first, doubling up to 30 s.
func backoff(failures int) time.Duration {
	const first, most = 250 * time.Millisecond, 30 * time.Second
	return jitter(min(most, first<<min(failures, 8)))
}
