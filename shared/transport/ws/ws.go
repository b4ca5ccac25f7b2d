// Package ws is the websocket transport: it reads the messages that clients
// send to the WebSocket API, calls the domain and sends the answers over their
// connections. frame.go is the only place where errors become frames.
package ws

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Handler serves the events of a WebSocket API.
type Handler = func(context.Context, events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error)

// Config configures the handler; every field is required.
type Config struct {
	Gate          *access.Gate
	Subscriptions watch.Subscriptions
	Feed          watch.CatchUps
	Pusher        watch.Pusher

	Log *slog.Logger
	Now func() time.Time
}

// api is the handler with its dependencies.
type api struct {
	Config
	sender *watch.ConnectionSender
}

// New returns the handler of all routes: $connect, $disconnect and messages. It
// returns 200 for every message, because API Gateway does not forward its
// answers, and sends clients an error of its own for any other status.
func New(c Config) Handler {
	a := &api{Config: c, sender: watch.NewConnectionSender(c.Pusher)}
	return func(ctx context.Context, event events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error) {
		return a.serve(ctx, newCall(event)), nil
	}
}

// serve handles one event. A panic must not end the process.
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

// connect accepts a caller that the authorizer has identified. It stores
// nothing, so a connection without subscriptions costs nothing.
func (a *api) connect(c *call) events.APIGatewayProxyResponse {
	if c.Refused != nil {
		f, _ := problem.Of(c.Refused)
		answer := problem.New(f, c.event.RequestContext.RequestID)
		return events.APIGatewayProxyResponse{
			StatusCode: answer.Status, Body: string(answer.Body), Headers: map[string]string{"Content-Type": problem.ContentType},
		}
	}
	if c.Caller.UserID == "" || c.expired(a.Now()) {
		return status(http.StatusUnauthorized)
	}
	answer := status(http.StatusOK)
	if c.offers(Subprotocol) {
		answer.Headers = map[string]string{subprotocolHeader: Subprotocol}
	}
	return answer
}

// disconnect deletes a connection's subscriptions. Those that remain after an
// error are deleted when the next message to the connection fails, or expire
// after two hours.
func (a *api) disconnect(ctx context.Context, c *call) events.APIGatewayProxyResponse {
	if err := a.Subscriptions.Disconnect(ctx, c.connection()); err != nil {
		a.Log.WarnContext(ctx, "a closed connection is still subscribed", "error", err)
		return status(http.StatusInternalServerError)
	}
	return status(http.StatusOK)
}
