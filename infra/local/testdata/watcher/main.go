// Command watcher is a function for the local host's tests: an authorizer that
// accepts the token "alice", a WebSocket API's functions that echo, and an endless
// stream of server-sent events.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
)

var errUnauthorized = errors.New("Unauthorized")

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w := &watcher{client: apigatewaymanagementapi.NewFromConfig(cfg, func(o *apigatewaymanagementapi.Options) {
		endpoint := os.Getenv("SOCKET_ENDPOINT")
		o.BaseEndpoint = &endpoint
	})}
	lambda.Start(w.handle)
}

type watcher struct {
	client *apigatewaymanagementapi.Client
}

// event is any event that the function receives.
type event struct {
	Type           string            `json:"type"`
	Version        string            `json:"version"`
	Query          map[string]string `json:"queryStringParameters"`
	Body           string            `json:"body"`
	RequestContext struct {
		EventType    string         `json:"eventType"`
		ConnectionID string         `json:"connectionId"`
		Authorizer   map[string]any `json:"authorizer"`
	} `json:"requestContext"`
}

func (w *watcher) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	switch {
	case e.Type == "REQUEST":
		return authorize(e.Query["token"])
	case e.Version == "2.0":
		return addresses()
	case e.RequestContext.EventType == "":
		return stream(e), nil
	case e.RequestContext.EventType == "MESSAGE":
		_, err := w.client.PostToConnection(ctx, &apigatewaymanagementapi.PostToConnectionInput{
			ConnectionId: &e.RequestContext.ConnectionID,
			Data:         fmt.Appendf(nil, "%v: %s", e.RequestContext.Authorizer["sub"], e.Body),
		})
		return events.APIGatewayProxyResponse{StatusCode: http.StatusOK}, err
	default:
		fmt.Println(e.RequestContext.EventType) //nolint:forbidigo // the test reads it
		return events.APIGatewayProxyResponse{StatusCode: http.StatusOK}, nil
	}
}

func authorize(token string) (any, error) {
	if token != "alice" {
		return nil, errUnauthorized
	}
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: token, Context: map[string]any{"sub": token},
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
			{Action: []string{"execute-api:Invoke"}, Effect: "Allow", Resource: []string{"*"}},
		}},
	}, nil
}

// addresses returns the addresses in the function's environment.
func addresses() (any, error) {
	var lines string
	for _, name := range []string{"SOCKET_ENDPOINT", "SOCKET_URL", "HTTP_URL", "OTHER_URL"} {
		lines += os.Getenv(name) + "\n"
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusOK, Body: lines}, nil
}

// stream sends a greeting and then stays silent.
func stream(e event) any {
	reader, writer := io.Pipe()
	go func() { _, _ = fmt.Fprintf(writer, "data: hello %v\n\n", e.RequestContext.Authorizer["sub"]) }()
	return &events.APIGatewayProxyStreamingResponse{
		StatusCode: http.StatusOK, Headers: map[string]string{"Content-Type": "text/event-stream"}, Body: reader,
	}
}
