package boot

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/trace"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/ws"
)

// subject is what an invocation is about.
type subject struct {
	attrs []slog.Attr
	// kind is that of its span; unspecified for one that has none.
	kind   trace.SpanKind
	parent string // the traceparent that came with it
}

// longestName is as long as ids are; whatever else a caller puts into a path is
// cut.
const longestName = 128

// aboutRequest is what a request to the HTTP API is about.
func aboutRequest(event events.APIGatewayV2HTTPRequest) subject {
	user := ""
	if a := event.RequestContext.Authorizer; a != nil && a.JWT != nil {
		user = a.JWT.Claims["sub"]
	}
	return subject{append(aboutPath(event.PathParameters),
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, unversioned(event.RouteKey)), logs.User(user),
	), trace.SpanKindServer, event.Headers["traceparent"]} // the gateway writes names of headers small
}

// aboutStream is what a request to the REST API that streams is about.
func aboutStream(event events.APIGatewayProxyRequest) subject {
	user, _ := ws.Identity(event.RequestContext.Authorizer)
	header := http.Header{}
	for name, value := range event.Headers {
		header.Set(name, value)
	}
	parameters := map[string]string{} // REST APIs leave them escaped
	for name, value := range event.PathParameters {
		if decoded, err := url.PathUnescape(value); err == nil {
			parameters[name] = decoded
		}
	}
	return subject{append(aboutPath(parameters),
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, unversioned(event.HTTPMethod+" "+event.Resource)), logs.User(user),
	), trace.SpanKindServer, header.Get("Traceparent")}
}

// aboutMessage is what an event of the WebSocket API is about. A message says
// itself which route it takes.
func aboutMessage(event events.APIGatewayWebsocketProxyRequest) subject {
	authorizer, _ := event.RequestContext.Authorizer.(map[string]any)
	user, _ := ws.Identity(authorizer)
	return subject{[]slog.Attr{
		slog.String(logs.RequestID, event.RequestContext.RequestID),
		slog.String(logs.Route, event.RequestContext.RouteKey),
		slog.String("connection", event.RequestContext.ConnectionID), logs.User(user),
	}, trace.SpanKindServer, ""}
}

// aboutCaller is what the authorizer is asked about.
func aboutCaller(event events.APIGatewayCustomAuthorizerRequestTypeRequest) subject {
	route := event.RequestContext.HTTPMethod + " " + event.RequestContext.ResourcePath
	if event.RequestContext.HTTPMethod == "" {
		route = "$connect" // is all that the WebSocket API asks about
	}
	return subject{attrs: []slog.Attr{
		slog.String(logs.RequestID, event.RequestContext.RequestID), slog.String(logs.Route, unversioned(route)),
	}}
}

// aboutRun is what an invocation of the runner is about: part of the trace of the
// request that started the run.
func aboutRun(job Job) subject {
	return subject{[]slog.Attr{
		slog.String(logs.Route, "run"), slog.String(logs.SessionID, job.SessionID),
		slog.String(logs.RunID, job.RunID), logs.User(job.UserID),
	}, trace.SpanKindConsumer, job.TraceParent}
}

// aboutChanges is what a batch of the table's stream is about. It has no span: to
// hand that over would keep watchers waiting.
func aboutChanges(event events.DynamoDBEvent) subject {
	return subject{attrs: []slog.Attr{slog.String(logs.Route, "changes"), slog.Int("records", len(event.Records))}}
}

// aboutDeliveries is what a batch of a queue is about.
func aboutDeliveries(event events.SQSEvent) subject {
	return subject{
		[]slog.Attr{slog.String(logs.Route, "deliveries"), slog.Int("records", len(event.Records))}, trace.SpanKindConsumer, "",
	}
}

// aboutTick is what an invocation of a schedule is about.
func aboutTick(struct{}) subject { return subject{attrs: []slog.Attr{slog.String(logs.Route, "tick")}} }

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
