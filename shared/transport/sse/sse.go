// Package sse serves one session as server-sent events (seed 001). It does not
// read conversations: each stream subscribes to the WebSocket API with the
// caller's token, so one fan-out serves both transports. A stream ends after a
// turn, and its reader continues in the next one without a gap.
package sse

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/transport/gateway"
	"github.com/rethread/rethread/shared/transport/ws"
)

// Handler serves a request to a REST API that streams its response.
type Handler = func(context.Context, events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error)

// Config configures streams. Durations that are 0 have the stated defaults.
type Config struct {
	URL           string // of the WebSocket API, ws or wss
	AllowedOrigin string // for Access-Control-Allow-Origin; "" sends none
	Client        *http.Client
	Log           *slog.Logger
	Now           func() time.Time
	Random        func() float64 // in [0, 1); spreads turns
	Streams       quota.Streams  // counts a user's open streams; nil does not limit them

	Turn      time.Duration // bounds a stream; 0 leaves it to the function's deadline
	Check     time.Duration // between checks that the stream still has its lease: quota.StreamCheck
	Heartbeat time.Duration // between comments on an idle stream: 15 s
	Keepalive time.Duration // between websocket pings, well below the gateway's 10 min: 4 min
	Answer    time.Duration // bounds a subscription to the WebSocket API: 10 s
	Margin    time.Duration // from a stream's end to Lambda's deadline: 20 s
	Hold      time.Duration // how long messages wait for a missing one before them: 1 s
	Retry     time.Duration // mean wait before a disconnected websocket is reopened: 200 ms

	api string // of the HTTP API, for items too large for a websocket; "" if the stage does not name it
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

// apiVariable is the stage's variable with the address of the HTTP API. In the function's
// environment it would tie the two APIs to each other in a circle, as the HTTP API's
// document at /api/v1 names the address of this one.
const apiVariable = "HttpUrl"

// New returns the handler. A stream begins only after the subscription has
// succeeded; earlier failures are answered with a problem and its status.
func New(c Config) Handler {
	c = c.orDefault()
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (answer *events.APIGatewayProxyStreamingResponse, _ error) {
		id := event.RequestContext.RequestID
		c := c
		if url := event.StageVariables[apiVariable]; url != "" {
			c.api = url + "/api/v1"
		}
		defer func() { // a panic must not end the process
			if v := recover(); v != nil {
				c.Log.ErrorContext(ctx, "panic", "panic", v, "stack", string(debug.Stack()))
				answer = c.refuse(newRefusal(http.StatusInternalServerError, fault.Internal, "Internal error."), id)
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

// open returns the stream, or for a reader that reconnects while none can
// begin, the time after which to try again.
func (c Config) open(ctx context.Context, event events.APIGatewayProxyRequest) (io.Reader, *refusal) {
	verified := ws.ReadVerified(event.RequestContext.Authorizer)
	if verified.Refused != nil {
		return nil, refusedAs(verified.Refused)
	}
	token := time.Unix(verified.Expires, 0).Sub(c.Now())
	if verified.Caller.UserID == "" || token <= 0 {
		return nil, newRefusal(http.StatusUnauthorized, fault.NoIdentity, "no identity: send a bearer token")
	}
	req, err := readRequest(event, verified.Caller)
	if err != nil {
		return nil, badRequest(err)
	}
	stream, why := c.begin(ctx, req, token)
	switch {
	case why == nil:
		return stream, nil
	case why.cause != nil:
		c.Log.ErrorContext(ctx, "the stream could not begin", "error", why.cause)
	}
	if req.resumed && !why.final() {
		return c.reconnectLater(why), nil
	}
	return nil, why
}

// begin takes a lease and subscribes. The lease is first, so that a caller with
// too many streams is refused at the cost of a read unit.
func (c Config) begin(ctx context.Context, req request, token time.Duration) (*body, *refusal) {
	at := c.endOf(ctx, token)
	lease, why := c.acquire(ctx, req.caller.UserID, req, at.after)
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
	maps.Copy(h, gateway.CORS(c.AllowedOrigin))
	return h
}
