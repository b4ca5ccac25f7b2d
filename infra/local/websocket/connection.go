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

const idBytes = 11 // of a connection's id, which is 16 characters with the padding

// Why posting to a connection fails.
var (
	errGone = errors.New("the connection is closed")
	errFull = errors.New("too many messages wait for the client")
)

// ending is how a connection came to its end.
type ending struct {
	code   ws.StatusCode
	reason string
}

// ended is an end in API Gateway's words, which are seen in $disconnect events
// but not documented.
func ended(code ws.StatusCode) ending {
	switch code {
	case ws.StatusGoingAway:
		return ending{code, "Going away"}
	case ws.StatusNormalClosure:
		return ending{code, "Connection Closed Normally"}
	case ws.StatusNoStatusRcvd:
		return ending{code, "Client-side close frame status not set"}
	case ws.StatusAbnormalClosure:
		return ending{code, "Connection Closed Abnormally"}
	case ws.StatusMessageTooBig:
		return ending{code, "Message Too Big"}
	case ws.StatusInvalidFramePayloadData:
		return ending{code, "Invalid Frame Payload Data"}
	default:
		return ending{code, ""}
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
	authorizer  map[string]any // nil without an authorizer

	socket   *ws.Conn
	frames   *frames
	outgoing chan []byte
	lanes    chan struct{} // one token for each message that is worked on
	running  sync.WaitGroup
	closing  chan struct{} // closed when the gateway wants the end
	gone     chan struct{} // closed when nothing can be read any more

	mu         sync.Mutex
	lastActive time.Time
	idle       *time.Timer
	end        *ending
}

func newConnection(a *API, r *http.Request) *connection {
	now := time.Now()
	return &connection{
		api: a, id: newID(), identity: proxyv1.Identity(r), host: r.Host, domain: proxyv1.Host(r.Host),
		connectedAt: now, lastActive: now,
		outgoing: make(chan []byte, a.limits.Waiting), lanes: make(chan struct{}, a.limits.Parallel),
		closing: make(chan struct{}), gone: make(chan struct{}),
	}
}

// newID makes an id like API Gateway's, of connections and of requests: it has
// characters that need escapes in a URL.
func newID() string {
	var id [idBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.URLEncoding.EncodeToString(id[:])
}

// serve runs the open connection to its end.
func (c *connection) serve(ctx context.Context) {
	c.socket.SetReadLimit(c.api.limits.MessageBytes)
	c.mu.Lock()
	c.idle = time.AfterFunc(c.api.limits.Idle, func() { c.close(ws.StatusGoingAway) })
	c.mu.Unlock()
	life := time.AfterFunc(c.api.limits.Life, func() { c.close(ws.StatusGoingAway) })
	c.running.Go(func() { c.write(ctx) })
	err := c.read(ctx)
	c.api.forget(c)
	if errors.Is(err, ws.ErrMessageTooBig) {
		c.drain()
	}
	close(c.gone)
	if !c.isClosing() {
		_ = c.frames.Close() // nobody is left to write to
	}
	c.disconnect(ctx, c.endOf(err))
	c.running.Wait()
	c.idle.Stop()
	life.Stop()
}

// read passes messages on until there will be none. What arrives after the
// gateway began to close is dropped.
func (c *connection) read(ctx context.Context) error {
	for {
		kind, data, err := c.socket.Read(ctx)
		if err != nil {
			return err
		}
		c.touch()
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

// drain reads on until the client has seen why the gateway closes: hanging up
// on what it still sends would take the close frame from it.
func (c *connection) drain() {
	_ = c.frames.SetReadDeadline(time.Now().Add(c.api.limits.Farewell)) // only fails where reading does
	_, _ = io.Copy(io.Discard, c.frames)                                // ends either way
}

// dispatch has the message worked on beside others: API Gateway promises no
// order either.
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

// write sends what is posted, one message after the other.
func (c *connection) write(ctx context.Context) {
	for {
		select {
		case data := <-c.outgoing:
			if !c.send(ctx, data) {
				return
			}
		case <-c.closing:
			c.farewell(ctx)
			return
		case <-c.gone:
			_ = c.socket.CloseNow() // closed already is fine
			return
		}
	}
}

// send writes one message. A client that does not read in time is cut off, so
// that the reader ends too.
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
	c.touch()
	return true
}

// farewell sends what was posted before the end, then closes.
func (c *connection) farewell(ctx context.Context) {
	cut := time.AfterFunc(c.api.limits.Farewell, func() { _ = c.frames.Close() })
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
		end := c.endOf(nil)
		_ = c.socket.Close(end.code, end.reason) // a client that is gone needs no close frame
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

// close begins the end, unless it has begun.
func (c *connection) close(code ws.StatusCode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		end := ended(code)
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

// endOf tells how the connection ended: as the gateway wanted, or as reading
// failed.
func (c *connection) endOf(err error) ending {
	c.mu.Lock()
	defer c.mu.Unlock()
	var closed ws.CloseError
	switch {
	case c.end != nil:
		return *c.end
	case errors.Is(err, ws.ErrMessageTooBig):
		return ended(ws.StatusMessageTooBig)
	case !errors.As(err, &closed):
		return ended(ws.StatusAbnormalClosure)
	case closed.Reason == "":
		return ended(closed.Code)
	default:
		return ending{closed.Code, closed.Reason}
	}
}

func (c *connection) onPing(context.Context, []byte) bool {
	c.touch()
	return true
}

// touch notes that the connection is in use.
func (c *connection) touch() {
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
