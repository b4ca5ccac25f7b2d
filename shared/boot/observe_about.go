package boot

import (
	"log/slog"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/trace"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/ws"
)

// subject describes what an invocation is about.
type subject struct {
	attrs []slog.Attr
	// kind is the kind of its span; unspecified for no span.
	kind   trace.SpanKind
	parent string // the request's traceparent
}

// longestName is the maximum length of an id; longer texts in a path are cut.
const longestName = 128

// aboutRequest returns the subject of a request to the HTTP API.
func aboutRequest(event events.APIGatewayV2HTTPRequest) subject {
	user := ""
	if a := event.RequestContext.Authorizer; a != nil && a.JWT != nil {
		user = a.JWT.Claims["sub"]
	}
	return subject{append(aboutPath(event.PathParameters),
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, unversioned(event.RouteKey)), logs.User(user),
	), trace.SpanKindServer, event.Headers["traceparent"]} // the gateway lowercases header names
}

// aboutStream returns the subject of a request to the streaming REST API.
func aboutStream(event events.APIGatewayProxyRequest) subject {
	verified := ws.ReadVerified(event.RequestContext.Authorizer)
	header := headerOf(event.Headers)
	parameters := map[string]string{} // REST APIs leave them escaped
	for name, value := range event.PathParameters {
		if decoded, err := url.PathUnescape(value); err == nil {
			parameters[name] = decoded
		}
	}
	return subject{append(append(aboutPath(parameters),
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, unversioned(event.HTTPMethod+" "+event.Resource))), aboutUser(verified.Caller)...,
	), trace.SpanKindServer, header.Get("Traceparent")}
}

// aboutMessage returns the subject of an event of the WebSocket API. A message itself
// names its route.
func aboutMessage(event events.APIGatewayWebsocketProxyRequest) subject {
	authorizer, _ := event.RequestContext.Authorizer.(map[string]any)
	return subject{append([]slog.Attr{
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, event.RequestContext.RouteKey),
		slog.String("connection", event.RequestContext.ConnectionID),
	}, aboutUser(ws.ReadVerified(authorizer).Caller)...), trace.SpanKindServer, ""}
}

// aboutCaller returns the subject of a request to the authorizer.
func aboutCaller(event events.APIGatewayCustomAuthorizerRequestTypeRequest) subject {
	route := event.RequestContext.HTTPMethod + " " + event.RequestContext.ResourcePath
	if isConnection(event) {
		route = "$connect"
	}
	return subject{attrs: []slog.Attr{
		slog.String(logs.RequestID, event.RequestContext.RequestID), slog.String(logs.Route, unversioned(route)),
	}}
}

// aboutRun returns the subject of an invocation of the runner, which is part of the
// trace of the request that started the run.
func aboutRun(job Job) subject {
	return subject{[]slog.Attr{
		slog.String(logs.Route, "run"), slog.String(logs.SessionID, job.SessionID),
		slog.String(logs.RunID, job.RunID), logs.User(job.UserID),
	}, trace.SpanKindConsumer, job.TraceParent}
}

// aboutChanges returns the subject of a batch of the table's stream. It has no span,
// because exporting that would delay watchers.
func aboutChanges(event events.DynamoDBEvent) subject {
	return subject{attrs: []slog.Attr{slog.String(logs.Route, "changes"), slog.Int("records", len(event.Records))}}
}

// aboutPart returns the subject of a part of a crowd.
func aboutPart(part watch.Part) subject {
	return subject{attrs: []slog.Attr{slog.String(logs.Route, "post"), slog.Int("connections", len(part.Connections))}}
}

// aboutDeliveries returns the subject of a batch of a queue.
func aboutDeliveries(event events.SQSEvent) subject {
	return subject{
		[]slog.Attr{slog.String(logs.Route, "deliveries"), slog.Int("records", len(event.Records))}, trace.SpanKindConsumer, "",
	}
}

// aboutTick returns the subject of a scheduled invocation.
func aboutTick(struct{}) subject { return subject{attrs: []slog.Attr{slog.String(logs.Route, "tick")}} }

// aboutPath returns the attributes of path parameters.
func aboutPath(parameters map[string]string) []slog.Attr {
	var attrs []slog.Attr
	for _, name := range []string{logs.SessionID, logs.RunID, "task_id", "agent"} {
		if value := parameters[name]; value != "" {
			attrs = append(attrs, slog.String(name, value[:min(len(value), longestName)]))
		}
	}
	return attrs
}

// unversioned returns a route under one name for both of its base paths.
func unversioned(route string) string {
	route = strings.Replace(route, " /api/v1/", " /", 1)
	return strings.Replace(route, " /api/", " /", 1)
}
