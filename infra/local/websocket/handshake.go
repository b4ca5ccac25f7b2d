package websocket

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
	"github.com/rethread/rethread/infra/local/gateway/throttle"
)

// handshake calls the authorizer and $connect, opens the connection and returns
// when it has ended.
func (a *API) handshake(rw http.ResponseWriter, r *http.Request) {
	if !isUpgrade(r) {
		rw.Header().Set("Upgrade", "websocket")
		refuse(rw, http.StatusUpgradeRequired, `{"message":"Upgrade Required"}`)
		return
	}
	// The connection outlives the request of its handshake.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	defer context.AfterFunc(a.base, cancel)() //nolint:contextcheck // Close cancels all connections
	c := newConnection(a, r)
	if !a.limiter.Allow() {
		refuse(rw, http.StatusTooManyRequests, c.message(throttle.Message, newID()))
		return
	}
	headers, refusal := c.connect(ctx, r)
	if refusal != nil {
		refuse(rw, refusal.status, c.message(refusal.text, refusal.requestID))
		return
	}
	for name, value := range headers {
		switch name = textproto.CanonicalMIMEHeaderKey(name); name {
		case "Content-Length", "Content-Type", "Transfer-Encoding":
		default:
			rw.Header().Set(name, value)
		}
	}
	// Functions may post as soon as the client knows that it is connected.
	if !a.register(c) {
		refuse(rw, http.StatusServiceUnavailable, `{"message":"Service Unavailable"}`)
		c.disconnect(ctx, closeReasonOf(ws.StatusGoingAway))
		return
	}
	watched := &hijacker{ResponseWriter: rw, limit: a.limits.FrameBytes}
	socket, err := ws.Accept(watched, r, &ws.AcceptOptions{
		InsecureSkipVerify: true, // like API Gateway, which leaves origins to the authorizer
		OnPingReceived:     c.onPing,
	})
	if err != nil { // Accept has written the response
		a.forget(c)
		c.disconnect(ctx, closeReasonOf(ws.StatusAbnormalClosure))
		return
	}
	c.socket, c.frames = socket, watched.conn
	c.serve(ctx)
}

// isUpgrade reports whether the request is a handshake; it is checked before any
// function is invoked.
func isUpgrade(r *http.Request) bool {
	var tokens []string
	for _, value := range r.Header.Values("Connection") {
		for token := range strings.SplitSeq(strings.ToLower(value), ",") {
			tokens = append(tokens, strings.TrimSpace(token))
		}
	}
	return r.Method == http.MethodGet && slices.Contains(tokens, "upgrade") &&
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// refusal is the response to a failed handshake.
type refusal struct {
	status    int
	text      string
	requestID string
}

// connect decides whether the client may connect. It returns the headers that
// $connect adds to the response, which accept a subprotocol.
func (c *connection) connect(ctx context.Context, r *http.Request) (map[string]string, *refusal) {
	began := time.Now()
	request := c.connectEvent(r)
	id := request.RequestContext.RequestID
	if c.api.authorizer != nil {
		arn := proxyv1.ARN(c.api.opts.Region, c.api.opts.Account, c.api.opts.API.LogicalID, c.api.opts.API.Stage, connectKey)
		said, err := c.api.authorizer.Authorize(ctx, r, arn, authorizerRequest{
			Type: "REQUEST", MethodARN: arn, APIGatewayWebsocketProxyRequest: request,
		})
		if err != nil {
			status, text := proxyv1.Status(err)
			c.log(connectKey, "", status, began, false)
			return nil, &refusal{status, text, id}
		}
		c.authorizer = said
		request.RequestContext.Authorizer = said
	}
	if _, ok := c.api.opts.API.Routes[connectKey]; !ok {
		return nil, nil
	}
	answered, err := c.invoke(ctx, connectKey, request)
	switch {
	case err != nil:
		return nil, &refusal{connectStatus(err), internalError, id}
	case answered.status < 200, answered.status > 299:
		return nil, &refusal{answered.status, http.StatusText(answered.status), id}
	default:
		return answered.headers, nil
	}
}

// message is the gateway's error message to a client.
func (c *connection) message(text, requestID string) string {
	body, _ := json.Marshal(struct { // three strings always marshal
		Message      string `json:"message"`
		ConnectionID string `json:"connectionId"`
		RequestID    string `json:"requestId"`
	}{text, c.id, requestID})
	return string(body)
}

// hijacker returns a connection that inspects its frames.
type hijacker struct {
	http.ResponseWriter
	limit int64
	conn  *frames
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = &frames{Conn: conn, limit: h.limit}
	early, _ := buffered.Peek(buffered.Reader.Buffered()) // buffered data can be peeked
	h.conn.inspect(early)
	return h.conn, buffered, nil
}
