package boot

import (
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/logs"
	"github.com/rethread/rethread/shared/run"
	"github.com/rethread/rethread/shared/wsapi"
)

// longestName is as long as ids are; whatever else a caller puts into a path is
// cut.
const longestName = 128

// aboutRequest is what a request to the HTTP API is about.
func aboutRequest(event events.APIGatewayV2HTTPRequest) []slog.Attr {
	user := ""
	if a := event.RequestContext.Authorizer; a != nil && a.JWT != nil {
		user = a.JWT.Claims["sub"]
	}
	return append(aboutPath(event.PathParameters),
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, unversioned(event.RouteKey)), logs.User(user))
}

// aboutStream is what a request to the REST API that streams is about.
func aboutStream(event events.APIGatewayProxyRequest) []slog.Attr {
	user, _ := wsapi.Identity(event.RequestContext.Authorizer)
	return append(aboutPath(event.PathParameters),
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, unversioned(event.HTTPMethod+" "+event.Resource)), logs.User(user))
}

// aboutMessage is what an event of the WebSocket API is about. A message says
// itself which route it takes.
func aboutMessage(event events.APIGatewayWebsocketProxyRequest) []slog.Attr {
	authorizer, _ := event.RequestContext.Authorizer.(map[string]any)
	user, _ := wsapi.Identity(authorizer)
	return []slog.Attr{
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, event.RequestContext.RouteKey),
		slog.String("connection", event.RequestContext.ConnectionID), logs.User(user),
	}
}

// aboutCaller is what the authorizer is asked about.
func aboutCaller(event events.APIGatewayCustomAuthorizerRequestTypeRequest) []slog.Attr {
	route := event.RequestContext.HTTPMethod + " " + event.RequestContext.ResourcePath
	if event.RequestContext.HTTPMethod == "" {
		route = "$connect" // is all that the WebSocket API asks about
	}
	return []slog.Attr{
		slog.String(logs.RequestID, event.RequestContext.RequestID), slog.String(logs.Route, unversioned(route)),
	}
}

// aboutRun is what an invocation of the runner is about.
func aboutRun(ref run.Ref) []slog.Attr {
	return []slog.Attr{
		slog.String(logs.Route, "run"), slog.String(logs.SessionID, ref.SessionID),
		slog.String(logs.RunID, ref.RunID), logs.User(ref.UserID),
	}
}

// aboutChanges is what a batch of the table's stream is about.
func aboutChanges(event events.DynamoDBEvent) []slog.Attr {
	return []slog.Attr{slog.String(logs.Route, "changes"), slog.Int("records", len(event.Records))}
}

// aboutDeliveries is what a batch of a queue is about.
func aboutDeliveries(event events.SQSEvent) []slog.Attr {
	return []slog.Attr{slog.String(logs.Route, "deliveries"), slog.Int("records", len(event.Records))}
}

// aboutPath is what the parameters of a path name.
func aboutPath(parameters map[string]string) []slog.Attr {
	var attrs []slog.Attr
	for _, name := range []string{logs.SessionID, logs.RunID, "task_id", "agent"} {
		if value := parameters[name]; value != "" {
			attrs = append(attrs, slog.String(name, value[:min(len(value), longestName)]))
		}
	}
	return attrs
}

// unversioned is a route by one name, whichever of its two base paths it was
// asked for under.
func unversioned(route string) string {
	route = strings.Replace(route, " /api/v1/", " /", 1)
	return strings.Replace(route, " /api/", " /", 1)
}
