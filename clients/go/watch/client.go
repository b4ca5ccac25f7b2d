// Package watch keeps sessions current over a websocket, which it renews, and calls
// back with what they show. What messages mean is in package view, which knows no
// network.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// What a connection may and must do (API Gateway's limits).
const (
	renewAfter   = 110 * time.Minute // a connection lives for 2 hours
	lingerFor    = 30 * time.Second  // an old connection beside its successor
	pingEvery    = 5 * time.Minute   // 10 minutes of silence end it
	answerWithin = 10 * time.Second
	dialWithin   = 30 * time.Second
	maxFrame     = 256 << 10 // bytes; the server sends half as much at most
)

// Why watching ends.
var (
	ErrNotFound  = errors.New("there is no such session")
	ErrForbidden = errors.New("the session is somebody else's")
	ErrDeleted   = errors.New("the session was deleted")
	ErrWatched   = errors.New("the session is watched already")
	ErrClosed    = errors.New("the client is closed")
	ErrRefused   = errors.New("the server refuses to let the session be watched")
)

// Config says whom to talk to, and as whom.
type Config struct {
	HTTPURL string // of the HTTP API with its version, such as https://api.example/api/v1
	WSURL   string // of the WebSocket API, such as wss://live.example/v1
	// Token returns a token that is valid for a while yet. It is asked for each
	// connection and each thread, so it should keep what it has.
	Token func(context.Context) (string, error)

	HTTP *http.Client // nil is http.DefaultClient; it dials the websocket too
	Log  *slog.Logger // nil is none
}

// Client watches sessions over one connection, which it renews. It is safe for
// concurrent use.
type Client struct {
	Config
	life    context.Context // of the connection, which outlives calls
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	line     *line // nil while there is none
	sessions map[string]*watched
}

// Open returns a client that connects, and stays connected until it is closed
// or ctx ends.
func Open(ctx context.Context, c Config) *Client {
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	out := &Client{Config: c, life: ctx, stop: stop, sessions: map[string]*watched{}}
	out.running.Go(func() { out.stayConnected(ctx) })
	return out
}

// Close ends the connection and everything that is watched, and waits until
// nothing runs any more.
func (c *Client) Close() {
	c.stop()
	c.running.Wait()
}

// Watch keeps a session current and calls onChange, one call at a time, with
// how it is now; changes that come while a call lasts are shown by the next one
// together. It returns when ctx ends, with its error, or with one of ErrNotFound,
// ErrForbidden, ErrDeleted, ErrWatched, ErrRefused and ErrClosed; whatever else
// goes wrong it tries again.
func (c *Client) Watch(ctx context.Context, sessionID string, onChange func(view.Session)) error {
	w := &watched{c: c, id: sessionID, state: view.NewState(), wake: make(chan struct{}, 1), onChange: onChange}
	if !c.add(w) {
		return fmt.Errorf("watch session %s: %w", sessionID, ErrWatched)
	}
	defer c.remove(w)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.life, func() { stop(ErrClosed) })() //nolint:contextcheck // the client ends apart from its callers
	return w.run(ctx)
}

func (c *Client) add(w *watched) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[w.id] != nil {
		return false
	}
	c.sessions[w.id] = w
	return true
}

func (c *Client) remove(w *watched) {
	c.mu.Lock()
	delete(c.sessions, w.id)
	on := c.line
	c.mu.Unlock()
	if on != nil {
		on.send(action{Action: "unsubscribe", SessionID: w.id})
	}
}

// watched finds who watches a session, nil where nobody does.
func (c *Client) watched(sessionID string) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[sessionID]
}

// all is everybody who watches.
func (c *Client) all() []*watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*watched, 0, len(c.sessions))
	for _, w := range c.sessions {
		out = append(out, w)
	}
	return out
}

func (c *Client) current() *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.line
}

// backoff is how long to wait after so many failures in a row: up to 250 ms
// after the first, doubling up to 30 s, at random so that clients that lost the
// same server do not return together.
func backoff(failures int) time.Duration {
	const first, most = 250 * time.Millisecond, 30 * time.Second
	return jitter(min(most, first<<min(failures, 8)))
}
