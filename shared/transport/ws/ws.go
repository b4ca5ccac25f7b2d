// Package ws is the websocket transport: it reads what clients send to the
// WebSocket API, calls the domain and posts the answers to their connections.
// frame.go is the one place where errors become frames.
package ws

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Handler is what Lambda calls for each event of a WebSocket API.
type Handler = func(context.Context, events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error)

// Config is what the handler stands on; all of it but AdminScope is needed.
type Config struct {
	Gate          *access.Gate
	Subscriptions watch.Subscriptions
	Feed          watch.CatchUps
	Pusher        watch.Pusher

	AdminScope string // of tokens that may watch every session; "" for none

	Log    *slog.Logger
	Now    func() time.Time
	Random func() float64 // from 0 to below 1; it spreads waits
}

// api is the handler with what it stands on.
type api struct {
	Config
	sender *watch.ConnectionSender
}

// New returns the handler of all routes: $connect, $disconnect and whatever
// clients send. Its answers to messages say 200 whatever happened, since API
// Gateway passes none of them on and tells clients of others in words of its
// own.
func New(c Config) Handler {
	a := &api{Config: c, sender: watch.NewConnectionSender(c.Pusher, c.Random)}
	return func(ctx context.Context, event events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error) {
		return a.serve(ctx, newCall(event)), nil
	}
}

// serve answers one event. A panic must not end the process.
func (a *api) serve(ctx context.Context, c *call) (answer events.APIGatewayProxyResponse) {
	defer func() {
		if v := recover(); v != nil {
			a.Log.ErrorContext(ctx, "panic", "panic", v, "stack", string(debug.Stack()))
			answer = status(http.StatusInternalServerError)
		}
	}()
	switch c.event.RequestContext.EventType {
	case "CONNECT":
		return a.connect(c)
	case "DISCONNECT":
		return a.disconnect(ctx, c)
	default:
		a.message(ctx, c)
		return status(http.StatusOK)
	}
}

func status(code int) events.APIGatewayProxyResponse {
	return events.APIGatewayProxyResponse{StatusCode: code}
}

// connect lets a caller in whom the authorizer has identified. Nothing is
// stored: a connection that watches nothing costs nothing.
func (a *api) connect(c *call) events.APIGatewayProxyResponse {
	if c.user == "" || c.expired(a.Now()) {
		return status(http.StatusUnauthorized)
	}
	answer := status(http.StatusOK)
	if c.offers(Subprotocol) {
		answer.Headers = map[string]string{subprotocolHeader: Subprotocol}
	}
	return answer
}

// disconnect forgets a connection. What fails here is found by the next message
// to the connection, or runs out in two hours.
func (a *api) disconnect(ctx context.Context, c *call) events.APIGatewayProxyResponse {
	if err := a.Subscriptions.Disconnect(ctx, c.connection()); err != nil {
		a.Log.WarnContext(ctx, "a closed connection is still subscribed", "error", err)
		return status(http.StatusInternalServerError)
	}
	return status(http.StatusOK)
}
