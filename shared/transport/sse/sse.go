// Package sse serves one session as server-sent events (seed 001). It reads no
// conversation: each stream is a subscriber of the WebSocket API with the
// caller's own token, so that one fan-out serves both transports. A stream ends
// after a turn, and its reader goes on in the next without a gap.
package sse

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/transport/ws"
)

// Handler is what Lambda calls for a request to a REST API that streams.
type Handler = func(context.Context, events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error)

// Config is what streams are made from. Durations that are 0 have defaults.
type Config struct {
	URL           string // of the WebSocket API, ws or wss
	API           string // of the HTTP API, for items too large for a websocket; "" reads none
	AllowedOrigin string // for Access-Control-Allow-Origin; "" sends none
	Client        *http.Client
	Log           *slog.Logger
	Now           func() time.Time
	Random        func() float64 // from 0 to below 1; it spreads turns
	Streams       quota.Streams  // counts a user's; nil counts none

	Turn      time.Duration // how long a stream lasts at most; 0 is as long as its function
	Check     time.Duration // between looks whether the stream's place is still its own: quota.StreamCheck
	Heartbeat time.Duration // between comments on a silent stream: 15 s
	Keepalive time.Duration // between websocket pings, well below the gateway's 10 min: 4 min
	Answer    time.Duration // how long the WebSocket API may take to subscribe: 10 s
	Margin    time.Duration // how long before Lambda's deadline a stream ends: 20 s
	Hold      time.Duration // what comes too early waits for what is before it: 1 s
	Retry     time.Duration // before the first new try after the websocket broke: 200 ms
}

func (c Config) orDefault() Config {
	for field, value := range map[*time.Duration]time.Duration{
		&c.Heartbeat: 15 * time.Second, &c.Keepalive: 4 * time.Minute, &c.Answer: 10 * time.Second,
		&c.Margin: 20 * time.Second, &c.Retry: 200 * time.Millisecond, &c.Hold: time.Second, &c.Check: quota.StreamCheck,
	} {
		if *field == 0 {
			*field = value
		}
	}
	return c
}

// New returns the handler. A stream begins only after the subscription has
// succeeded; what fails before is answered with a problem and its status.
func New(c Config) Handler {
	c = c.orDefault()
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (answer *events.APIGatewayProxyStreamingResponse, _ error) {
		id := event.RequestContext.RequestID
		defer func() { // a panic must not end the process
			if v := recover(); v != nil {
				c.Log.ErrorContext(ctx, "panic", "panic", v, "stack", string(debug.Stack()))
				answer = c.refuse(newRefusal(http.StatusInternalServerError, "Internal error."), id)
			}
		}()
		body, why := c.open(ctx, event)
		if why != nil {
			return c.refuse(why, id), nil
		}
		return &events.APIGatewayProxyStreamingResponse{
			StatusCode: http.StatusOK, Body: body,
			Headers: c.headers("text/event-stream"),
		}, nil
	}
}

// open returns the stream, or what a reader gets instead who comes back at a
// bad time.
func (c Config) open(ctx context.Context, event events.APIGatewayProxyRequest) (io.Reader, *refusal) {
	user, expires := ws.Identity(event.RequestContext.Authorizer)
	token := time.Unix(expires, 0).Sub(c.Now())
	if user == "" || token <= 0 {
		return nil, newRefusal(http.StatusUnauthorized, "no identity: send a bearer token")
	}
	req, err := readRequest(event)
	if err != nil {
		return nil, badRequest(err)
	}
	stream, why := c.begin(ctx, user, req, token)
	switch {
	case why == nil:
		return stream, nil
	case why.cause != nil:
		c.Log.ErrorContext(ctx, "the stream could not begin", "error", why.cause)
	}
	if req.resumed && !why.final() {
		return c.comeBack(why), nil
	}
	return nil, why
}

// begin takes a place for the stream and subscribes. The place comes first: who
// has too many streams is sent away for a read unit.
func (c Config) begin(ctx context.Context, user string, req request, token time.Duration) (*body, *refusal) {
	at := c.endOf(ctx, token)
	lease, why := c.take(ctx, user, req, at.after)
	if why != nil {
		return nil, why
	}
	source, why := c.subscribe(ctx, req, req.from)
	if why != nil {
		c.giveBack(ctx, lease, false)
		return nil, why
	}
	return c.start(ctx, at, req, lease, source), nil
}

func (c Config) headers(contentType string) map[string]string {
	h := map[string]string{
		"Content-Type": contentType, "Cache-Control": "no-store", "X-Accel-Buffering": "no",
	}
	if c.AllowedOrigin != "" {
		h["Access-Control-Allow-Origin"] = c.AllowedOrigin
	}
	if h["Access-Control-Allow-Origin"] != "*" {
		h["Vary"] = "Origin"
	}
	return h
}
