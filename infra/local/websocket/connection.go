package websocket

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
)

const idBytes = 11 // of a connection's id, which has 16 characters including padding

// Errors of posting to a connection.
var (
	errGone = errors.New("the connection is closed")
	errFull = errors.New("too many messages are waiting for the client")
)

// closeReason is the reason that a connection ended.
type closeReason struct {
	code   ws.StatusCode
	reason string
}

// closeReasonOf returns the reason in API Gateway's words, which appear in $disconnect
// events but are not documented.
func closeReasonOf(code ws.StatusCode) closeReason {
	switch code {
	case ws.StatusGoingAway:
		return closeReason{code, "Going away"}
	case ws.StatusNormalClosure:
		return closeReason{code, "Connection Closed Normally"}
	case ws.StatusNoStatusRcvd:
		return closeReason{code, "Client-side close frame status not set"}
	case ws.StatusAbnormalClosure:
		return closeReason{code, "Connection Closed Abnormally"}
	case ws.StatusMessageTooBig:
		return closeReason{code, "Message Too Big"}
	case ws.StatusInvalidFramePayloadData:
		return closeReason{code, "Invalid Frame Payload Data"}
	default:
		return closeReason{code, ""}
	}
}

// connection is one client's.
type connection struct {
	api         *API
	id          string
	identity    events.APIGatewayRequestIdentity
	host        string
	domain      string
	connectedAt time.Time
	authorizer  map[string]any // nil if the API has no authorizer

	socket    *ws.Conn
	frames    *frames
	outgoing  chan []byte
	lanes     chan struct{} // one token for each message being processed
	running   sync.WaitGroup
	closing   chan struct{} // closed when the gateway starts to close the connection
	readEnded chan struct{} // closed when no more messages can be read

	mu         sync.Mutex
	lastActive time.Time
	idle       *time.Timer
	end        *closeReason
}

func newConnection(a *API, r *http.Request) *connection {
	now := time.Now()
	return &connection{
		api: a, id: newID(), identity: proxyv1.Identity(r), host: r.Host, domain: proxyv1.Host(r.Host),
		connectedAt: now, lastActive: now,
		outgoing: make(chan []byte, a.limits.Waiting), lanes: make(chan struct{}, a.limits.Parallel),
		closing: make(chan struct{}), readEnded: make(chan struct{}),
	}
}

// newID returns an id like API Gateway's for connections and requests: it contains
// characters that must be escaped in a URL.
func newID() string {
	var id [idBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.URLEncoding.EncodeToString(id[:])
}

// serve runs the connection until it ends.
func (c *connection) serve(ctx context.Context) {
	c.socket.SetReadLimit(c.api.limits.MessageBytes)
	c.mu.Lock()
	c.idle = time.AfterFunc(c.api.limits.Idle, func() { c.close(ws.StatusGoingAway) })
	c.mu.Unlock()
	life := time.AfterFunc(c.api.limits.Lifetime, func() { c.close(ws.StatusGoingAway) })
	c.running.Go(func() { c.write(ctx) })
	err := c.read(ctx)
	c.api.forget(c)
	if errors.Is(err, ws.ErrMessageTooBig) {
		c.drain()
	}
	close(c.readEnded)
	if !c.isClosing() {
		_ = c.frames.Close() // no client is left
	}
	c.disconnect(ctx, c.closeReason(err))
	c.running.Wait()
	c.idle.Stop()
	life.Stop()
}

// read dispatches messages until the connection ends. Messages that arrive after
// the gateway started to close are dropped.
func (c *connection) read(ctx context.Context) error {
	for {
		kind, data, err := c.socket.Read(ctx)
		if err != nil {
			return err
		}
		c.markActive()
		switch {
		case c.isClosing():
		case c.frames.exceeded():
			c.close(ws.StatusMessageTooBig)
		case kind == ws.MessageText && !utf8.Valid(data):
			c.close(ws.StatusInvalidFramePayloadData)
		default:
			c.dispatch(ctx, kind, data)
		}
	}
}

// drain reads until the client has seen the close frame: closing the TCP
// connection with unread data would discard that frame.
func (c *connection) drain() {
	_ = c.frames.SetReadDeadline(time.Now().Add(c.api.limits.CloseWait)) // fails only if reading fails
	_, _ = io.Copy(io.Discard, c.frames)                                 // ends in either case
}

// dispatch processes the message concurrently with others: API Gateway does not
// promise an order either.
func (c *connection) dispatch(ctx context.Context, kind ws.MessageType, data []byte) {
	select {
	case c.lanes <- struct{}{}:
	case <-c.closing:
		return
	}
	c.running.Go(func() {
		defer func() { <-c.lanes }()
		c.route(ctx, kind, data)
	})
}

// write sends the posted messages, one after the other.
func (c *connection) write(ctx context.Context) {
	for {
		select {
		case data := <-c.outgoing:
			if !c.send(ctx, data) {
				return
			}
		case <-c.closing:
			c.finish(ctx)
			return
		case <-c.readEnded:
			_ = c.socket.CloseNow() // it may be closed already
			return
		}
	}
}

// send writes one message. A client that does not read in time is disconnected, so
// that the reader ends, too.
func (c *connection) send(ctx context.Context, data []byte) bool {
	ctx, cancel := context.WithTimeout(ctx, c.api.limits.Write)
	defer cancel()
	kind := ws.MessageText
	if !utf8.Valid(data) {
		kind = ws.MessageBinary
	}
	if err := c.socket.Write(ctx, kind, data); err != nil {
		_ = c.frames.Close() // the reader reports the end
		return false
	}
	c.markActive()
	return true
}

// finish sends the messages posted before the end, then closes the connection.
func (c *connection) finish(ctx context.Context) {
	cut := time.AfterFunc(c.api.limits.CloseWait, func() { _ = c.frames.Close() })
	defer cut.Stop()
	for {
		select {
		case data := <-c.outgoing:
			if !c.send(ctx, data) {
				return
			}
			continue
		default:
		}
		end := c.closeReason(nil)
		_ = c.socket.Close(end.code, end.reason) // the client may have disconnected
		return
	}
}

// post queues a message for the client. It never blocks.
func (c *connection) post(data []byte) error {
	if c.isClosing() {
		return errGone
	}
	select {
	case c.outgoing <- data:
		return nil
	default:
		return errFull
	}
}

// close starts to close the connection, unless that has started already.
func (c *connection) close(code ws.StatusCode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		end := closeReasonOf(code)
		c.end = &end
		close(c.closing)
	}
}

func (c *connection) isClosing() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// closeReason returns the reason that the connection ended: the gateway's, or the error
// of reading.
func (c *connection) closeReason(err error) closeReason {
	c.mu.Lock()
	defer c.mu.Unlock()
	var closed ws.CloseError
	switch {
	case c.end != nil:
		return *c.end
	case errors.Is(err, ws.ErrMessageTooBig):
		return closeReasonOf(ws.StatusMessageTooBig)
	case !errors.As(err, &closed):
		return closeReasonOf(ws.StatusAbnormalClosure)
	case closed.Reason == "":
		return closeReasonOf(closed.Code)
	default:
		return closeReason{closed.Code, closed.Reason}
	}
}

func (c *connection) onPing(context.Context, []byte) bool {
	c.markActive()
	return true
}

// markActive records that the connection is active.
func (c *connection) markActive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastActive = time.Now()
	c.idle.Reset(c.api.limits.Idle)
}

func (c *connection) activeAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastActive
}
