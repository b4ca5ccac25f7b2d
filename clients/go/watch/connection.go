package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch/view"
)

// connection is one websocket connection.
type connection struct {
	client *Client
	socket *websocket.Conn
	out    chan action
	done   chan struct{} // closed when the connection has ended
	end    context.CancelFunc
	pong   chan struct{}
}

// action is a message from the client to the server.
type action struct {
	Action    string `json:"action"`
	RequestID string `json:"request_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
}

// stayConnected keeps the client connected. It replaces a connection before the
// gateway closes it, and closes the old one only later, so that no message is lost
// in between.
func (c *Client) stayConnected(ctx context.Context) {
	rejected := "" // the token of a refused handshake
	for failures := 0; ctx.Err() == nil; {
		fresh, err := c.dial(ctx, &rejected)
		if errors.Is(err, rethread.ErrInvalid) {
			c.stop(err)
			return
		}
		if err != nil {
			c.Log.InfoContext(ctx, "cannot connect", "error", err)
			if sleep(ctx, backoff(failures)) != nil {
				return
			}
			failures++
			continue
		}
		if old := c.switchTo(fresh); old != nil {
			c.running.Go(func() { old.retire(ctx) })
		}
		began := time.Now()
		select {
		case <-fresh.done:
		case <-time.After(renewAfter - backoff(8)):
		case <-ctx.Done():
			<-fresh.done
			return
		}
		if failures++; time.Since(began) > time.Minute {
			failures = 0
		}
		if sleep(ctx, backoff(failures)) != nil {
			return
		}
	}
}

// switchTo makes a connection the one that sessions subscribe on, and returns the
// previous one.
func (c *Client) switchTo(fresh *connection) (old *connection) {
	c.mu.Lock()
	old, c.conn = c.conn, fresh
	c.mu.Unlock()
	for _, w := range c.allWatched() {
		w.notify()
	}
	return old
}

// disconnected handles the end of a connection.
func (c *Client) disconnected(conn *connection) {
	c.mu.Lock()
	if c.conn == conn {
		c.conn = nil
	}
	c.mu.Unlock()
	for _, w := range c.allWatched() {
		w.disconnected(conn)
	}
}

// address returns the address of the WebSocket API.
func (c *Client) address(ctx context.Context) (*url.URL, error) {
	address := c.WSURL
	if address == "" {
		named, err := c.api.Addresses(ctx)
		if err != nil {
			return nil, fmt.Errorf("find the WebSocket API: %w", err)
		}
		address = named.WebSocketURL
	}
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("parse the address of the WebSocket API: %w", err)
	}
	return at, nil
}

// dial opens a connection with a token, another one than the rejected one if there is
// another.
func (c *Client) dial(ctx context.Context, rejected *string) (*connection, error) {
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	at, err := c.address(dialing)
	if err != nil {
		return nil, err
	}
	token, err := c.Token(dialing, *rejected)
	if err != nil {
		return nil, fmt.Errorf("get a token: %w", err)
	}
	query := at.Query()
	query.Set("token", token)
	if c.User != "" {
		query.Set("user", c.User)
	}
	at.RawQuery = query.Encode()
	socket, resp, err := websocket.Dial(dialing, at.String(), &websocket.DialOptions{HTTPClient: c.HTTP}) //nolint:bodyclose // Dial closes it
	if err != nil {
		if resp != nil && resp.StatusCode == http.StatusUnauthorized {
			*rejected = token
		}
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, fmt.Errorf("connect: %s", resp.Status) // err contains the address with the token
		}
		return nil, fmt.Errorf("connect: %w", withoutAddress(err))
	}
	*rejected = ""
	socket.SetReadLimit(maxFrame)
	living, end := context.WithCancel(ctx)
	conn := &connection{
		client: c, socket: socket, end: end,
		out: make(chan action, 256), done: make(chan struct{}), pong: make(chan struct{}, 1),
	}
	c.running.Go(func() { conn.run(living) })
	return conn, nil
}

// run reads, writes and pings until the connection ends.
func (conn *connection) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { conn.write(ctx) })
	both.Go(func() { conn.ping(ctx) })
	for {
		kind, frame, err := conn.socket.Read(ctx)
		if err != nil {
			break
		}
		if kind == websocket.MessageText {
			conn.received(ctx, frame)
		}
	}
	conn.end()
	_ = conn.socket.CloseNow() // it may have ended already
	both.Wait()
	conn.client.disconnected(conn)
	close(conn.done)
}

// send queues an action. It ends the connection if the queue is full.
func (conn *connection) send(a action) {
	select {
	case conn.out <- a:
	default:
		conn.end()
	}
}

func (conn *connection) write(ctx context.Context) {
	for {
		select {
		case a := <-conn.out:
			if err := conn.post(ctx, a); err != nil {
				conn.end()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (conn *connection) post(ctx context.Context, a action) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	frame, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode an action: %w", err)
	}
	return conn.socket.Write(ctx, websocket.MessageText, frame)
}

// ping keeps the connection from becoming idle, and ends it when the server does
// not answer.
func (conn *connection) ping(ctx context.Context) {
	for sleep(ctx, pingEvery) == nil {
		conn.send(action{Action: "ping"})
		select {
		case <-conn.pong:
		case <-time.After(answerTimeout):
			conn.end()
		case <-ctx.Done():
		}
	}
}

// retire ends a replaced connection after lingerTime.
func (conn *connection) retire(ctx context.Context) {
	select {
	case <-conn.done:
	case <-time.After(lingerTime):
		conn.end()
	case <-ctx.Done():
	}
}

// tokenExpired is the reason given when the server ends subscriptions because the
// connection's token has expired.
const tokenExpired = "token_expired"

// head holds the members common to all frames.
type head struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id"`
}

// received handles a frame: the answer to an action or a message about a session.
func (conn *connection) received(ctx context.Context, frame []byte) {
	var h head
	if err := json.Unmarshal(frame, &h); err != nil || h.Type == "" {
		conn.client.Log.WarnContext(ctx, "received an invalid frame", "frame", string(frame[:min(len(frame), 500)]))
		return
	}
	switch h.Type {
	case "pong":
		select {
		case conn.pong <- struct{}{}:
		default:
		}
	case "unsubscribed":
		conn.unsubscribed(ctx, h, frame)
	case "error":
		conn.actionFailed(ctx, h, frame)
	default:
		if w := conn.client.watched(h.SessionID); w != nil {
			conn.deliver(ctx, w, h, frame)
		}
	}
}

func (conn *connection) deliver(ctx context.Context, w *watched, h head, frame []byte) {
	if h.Type == "subscribed" {
		w.subscriptionAnswered(h.RequestID, nil)
		return
	}
	m, err := view.ParseMessage(frame)
	if err != nil {
		conn.client.Log.WarnContext(ctx, "cannot parse a message", "session_id", w.id, "error", err)
		w.missed()
		return
	}
	w.apply(m)
}

// unsubscribed handles the notice that the server ended a subscription, which has
// a reason; the answer to an unsubscribe has none. Subscribing again shows whether
// that is final. An expired token requires a new connection.
func (conn *connection) unsubscribed(ctx context.Context, h head, frame []byte) {
	var f struct {
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(frame, &f); err != nil || f.Reason == "" {
		return
	}
	conn.client.Log.InfoContext(ctx, "the server ended a subscription", "session_id", h.SessionID, "reason", f.Reason)
	if f.Reason == tokenExpired {
		conn.end()
		return
	}
	if w := conn.client.watched(h.SessionID); w != nil {
		w.resubscribe(conn)
	}
}

// actionFailed handles an error frame.
func (conn *connection) actionFailed(ctx context.Context, h head, frame []byte) {
	var problem struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(frame, &problem); err != nil {
		conn.client.Log.WarnContext(ctx, "cannot parse an error", "error", err)
		return
	}
	conn.client.Log.InfoContext(ctx, "an action failed",
		"session_id", h.SessionID, "status", problem.Status, "detail", problem.Detail)
	if problem.Status == http.StatusUnauthorized {
		conn.end() // the token has expired
		return
	}
	if w := conn.client.watched(h.SessionID); w != nil {
		w.subscriptionAnswered(h.RequestID, errorOf(problem.Status, problem.Detail))
	}
}
